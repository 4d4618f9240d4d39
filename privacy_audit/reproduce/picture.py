"""Figures as files."""

from __future__ import annotations

import io
import pathlib

from matplotlib.figure import Figure

DPI = 130


def write_picture(figure: Figure, path: pathlib.Path) -> None:
    """Writes a PNG that depends on what is drawn alone."""
    picture = io.BytesIO()
    figure.savefig(picture, metadata={"Software": None})
    path.write_bytes(picture.getvalue())
