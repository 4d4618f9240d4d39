"""Reconstruction of secrets that a language model was fine-tuned on (Paper U's canaries)."""
