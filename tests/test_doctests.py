"""Every doctest of the four packages, found by their import names."""

import doctest
import importlib
import pathlib
import pkgutil

import pytest

import privacy_audit

ROOT = pathlib.Path(privacy_audit.__file__).resolve().parent
NAMES = ("privacy_audit", "privacy_audit.bounds", "privacy_audit.train", "privacy_audit.attacks")


OPTIONAL = {"tensorflow_datasets"}


def imported(name):
    """The module; None where it needs an optional extra that is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in OPTIONAL:
            raise
        return None


def modules_of(package_name):
    """The package and the modules below its own folder: a checkout's other folders are not ours to import."""
    package = importlib.import_module(package_name)
    folder = [str(ROOT)] if package is privacy_audit else list(package.__path__)
    yield package_name
    for module in pkgutil.walk_packages(folder, prefix=f"{package_name}."):
        if not module.name.endswith("__main__"):
            yield module.name


def test_only_the_named_packages_are_walked():
    found = {name for package in NAMES for name in modules_of(package)}
    assert {"privacy_audit.game", "privacy_audit.bounds.flip", "privacy_audit.attacks.gradient"} <= found
    assert not any(name.split(".")[1:2] in (["setup"], ["tests"], ["benchmarks"]) for name in found)


@pytest.mark.parametrize("package", NAMES)
def test_doctests(package):
    failed = attempted = 0
    for name in modules_of(package):
        module = imported(name)
        if module is None:
            continue
        result = doctest.testmod(module)
        failed, attempted = failed + result.failed, attempted + result.attempted
    assert failed == 0
    assert attempted > 0
