"""Paper U reproduced: `python -m privacy_audit.reproduce --paper=adversary_aware`.

Each part (tables, tightness, attributes, canaries, larger) computes one JSON from its settings; its `section` and its
figures, and the `document` of all, are made from those JSONs alone.
"""
