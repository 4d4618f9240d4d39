"""Canaries in SmolLM2-135M: `python -m privacy_audit.reproduce.adversary_aware.larger --out=…`."""
