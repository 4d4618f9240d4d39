"""privacy-audit: how private a differentially private training run is, from below and from above."""

import pathlib

_checkout = pathlib.Path(__file__).resolve().parent.parent
if (_checkout / "setup.py").is_file():  # a checkout keeps bounds/, train/ and attacks/ beside this folder
    __path__.append(str(_checkout))

__version__ = "0.1.0"
