"""From rows to a table on the screen, JSON, CSV, Parquet or a plot; files appear whole or not at all."""

import csv
import io
import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Sequence

import numpy as np
from absl import flags
from matplotlib.figure import Figure

from privacy_audit.command import Command

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, told apart by colour-blind readers."""
STYLES = ("-", "--", "-.", ":")
_FORMATS = (".json", ".csv", ".parquet")
_PLOTS = (".png", ".svg", ".pdf")

Row = dict[str, object]


def define_outputs(command: Command, plot: bool = True) -> None:
    """Flags of where results go."""
    command.define("Output", flags.DEFINE_bool, "json", False, "print JSON instead of a table")
    command.define("Output", flags.DEFINE_string, "out", None, f"file to write, one of {', '.join(_FORMATS)}")
    if plot:
        command.define(
            "Output", flags.DEFINE_string, "plot", None, f"file to draw, one of {', '.join(_PLOTS)}"
        )


def check_outputs(command: Command) -> None:
    """Raises ValueError before any work is done if a result could not be written."""
    for flag, endings in (("out", _FORMATS), ("plot", _PLOTS)):
        path = command.values[flag].value if flag in command.values else None
        if path is None:
            continue
        file = pathlib.Path(path)
        if file.suffix not in endings:
            raise ValueError(f"{flag} must end in one of {', '.join(endings)}, got {path}")
        if not file.absolute().parent.is_dir() or file.is_dir():
            raise ValueError(f"{flag} must be a file in a folder that exists, got {path}")
    if (command.values["out"].value or "").endswith(".parquet"):
        _parquet_writer()


def deliver(
    command: Command, summary: Row, rows: Sequence[Row], draw: Callable[[], Figure] | None = None
) -> None:
    """Prints the summary and the rows, and writes the files that were asked for."""
    if command.values["json"].value:
        print(as_json({**summary, "rows": list(rows)}))
    else:
        print("\n".join(f"{name}: {_shown(value)}" for name, value in summary.items()))
        if rows:
            print("\n" + table(rows))
    write(command, summary, rows, draw)


def write(
    command: Command, summary: Row, rows: Sequence[Row], draw: Callable[[], Figure] | None = None
) -> None:
    """Writes the files that were asked for."""
    if path := command.values["out"].value:
        _write_rows(pathlib.Path(path), summary, rows)
    if draw and (path := command.values["plot"].value):
        write_whole(
            pathlib.Path(path), lambda file: draw().savefig(file, format=pathlib.Path(path).suffix[1:])
        )


def table(rows: Sequence[Row]) -> str:
    """Columns aligned to the right, two spaces apart."""
    header = list(rows[0])
    cells = [header, *([_shown(row[name]) for name in header] for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(header))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells
    )


def _shown(value) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    return str(value)


def as_json(value) -> str:
    """JSON text; NumPy numbers become plain ones, and infinities the word "inf", which JSON has no number for."""
    return json.dumps(_finite(value), indent=1, default=_plain, ensure_ascii=False)


def _finite(value):
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def _plain(value):
    return value.item() if isinstance(value, np.generic) else str(value)


def _write_rows(path: pathlib.Path, summary: Row, rows: Sequence[Row]) -> None:
    if path.suffix == ".json":
        text = as_json({**summary, "rows": list(rows)}) + "\n"
    elif path.suffix == ".csv":
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, rows[0] if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        text = buffer.getvalue()
    else:
        write_whole(path, lambda file: _parquet_writer()(rows, file))
        return
    write_whole(path, lambda file: file.write(text.encode()))


def _parquet_writer() -> Callable:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError(
            "out must not end in .parquet unless pyarrow is installed (privacy-audit[parquet])"
        ) from None
    return lambda rows, file: parquet.write_table(pyarrow.Table.from_pylist(list(rows)), file)


def write_whole(path: pathlib.Path, write: Callable[[io.BufferedIOBase], object]) -> None:
    """Writes beside the goal and renames, so that a reader never sees half a file."""
    handle, temporary = tempfile.mkstemp(dir=path.absolute().parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def figure() -> tuple[Figure, object]:
    """An empty figure of the house's size and its axes."""
    canvas = Figure(figsize=(6.4, 4.4), dpi=150, layout="constrained")
    axes = canvas.subplots()
    axes.grid(alpha=0.25)
    return canvas, axes
