"""Paper L reproduced: `python -m privacy_audit.reproduce --paper=adversary_instantiation`.

`settings` holds every number that is chosen, `printed` every number that the paper prints; `play` runs the cells,
`collect` turns their ledgers into one JSON, and `figures` and `document` are made from that JSON alone.
"""
