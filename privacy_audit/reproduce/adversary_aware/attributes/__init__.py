"""Attributes of 100 people reconstructed from noisy marginals, beside the bounds."""
