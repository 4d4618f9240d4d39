"""Canaries in SmolLM2-135M: `python -m privacy_audit.reproduce --paper=adversary_aware --parts=larger,report`."""
