"""The two papers reproduced: `python -m privacy_audit.reproduce --paper=…`.

`papers` names what can be reproduced, one package each; here lies what they share.
"""
