"""The built wheel: one name at the top, all folders inside it, and no train.py can get in its way."""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import pytest

CHECKOUT = pathlib.Path(__file__).resolve().parents[1]
FOLDERS = ("privacy_audit", "bounds", "train", "attacks")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The wheel, built from a copy and unpacked as pip would."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site-packages")
    for name in FOLDERS:
        shutil.copytree(CHECKOUT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(CHECKOUT / name, source)
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-q",
        "-w",
        str(source / "out"),
    ]
    subprocess.run([*build, str(source)], check=True, capture_output=True)
    (wheel,) = (source / "out").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(target)
    return target


def test_nothing_but_one_package_lands_in_site_packages(installed):
    names = sorted(path.name for path in installed.iterdir() if not path.name.endswith(".dist-info"))
    assert names == ["privacy_audit"]


def test_every_module_of_the_checkout_is_in_the_wheel(installed):
    for folder in FOLDERS:
        inside = installed / "privacy_audit" / ("" if folder == "privacy_audit" else folder)
        for module in (CHECKOUT / folder).rglob("*.py"):
            assert (inside / module.relative_to(CHECKOUT / folder)).is_file(), module


@pytest.mark.parametrize("where", ["wheel", "checkout"])
def test_imports_work_beside_a_users_own_train_py(installed, where, tmp_path):
    (tmp_path / "train.py").write_text("raise RuntimeError('the user's own file')")
    code = (
        "import privacy_audit.bounds, privacy_audit.train.data as data, privacy_audit.attacks, sys\n"
        "assert not {'train', 'bounds', 'attacks'} & set(sys.modules)\n"
        "print(data.__file__)"
    )
    path = installed if where == "wheel" else CHECKOUT
    env = {**os.environ, "PYTHONPATH": str(path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith(str(path))
