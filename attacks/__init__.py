"""Adversaries: crafter and distinguisher pairs (Paper L, Table 1)."""
