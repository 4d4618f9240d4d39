"""Paper U reproduced: `python -m privacy_audit.reproduce --paper=adversary_aware`.

Each part (tables, tightness, attributes, canaries) computes one JSON from its settings; `figures` and `document` are
made from those JSONs alone.
"""
