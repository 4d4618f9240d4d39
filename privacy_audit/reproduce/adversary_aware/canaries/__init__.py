"""Secrets in a language model that was fine-tuned by DP-SGD: what an attack recovers, what any attack could."""
