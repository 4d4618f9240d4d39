"""The notebooks run from top to bottom, at their small size, in a folder of their own."""

import os
import pathlib

import pytest

nbformat = pytest.importorskip("nbformat", reason="optional extra: pip install 'privacy-audit[test]'")
nbclient = pytest.importorskip("nbclient", reason="optional extra: pip install 'privacy-audit[test]'")

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "notebooks"
NAMES = [
    "01_first_audit",
    "02_six_adversaries",
    "03_bounds_and_calibration",
    "04_audit_your_own_trainer",
    "05_canaries",
    "06_attributes",
    "bug_zoo",
]


def test_every_notebook_is_tested():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_runs_from_top_to_bottom(name, tmp_path, monkeypatch):
    checkout = str(FOLDER.parent)
    monkeypatch.setenv("PRIVACY_AUDIT_SIZE", "small")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([checkout, os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    assert f"/notebooks/{name}.ipynb)" in notebook.cells[0].source  # the badge opens this very notebook
    client = nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    assert all(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")
