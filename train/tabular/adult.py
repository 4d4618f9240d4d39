"""UCI Adult (census of 1994): 48,842 people, from the two canonical files in a local folder."""

from __future__ import annotations

import pathlib

from . import people
from .table import Table

TITLE = "UCI Adult (stand-in for ACS)"
FILES = ("adult.data", "adult.test")
_COLUMNS = 15
_MARITAL = {
    "Married-civ-spouse": "married",
    "Married-AF-spouse": "married",
    "Married-spouse-absent": "formerly married",
    "Divorced": "formerly married",
    "Separated": "formerly married",
    "Widowed": "formerly married",
    "Never-married": "never married",
}
_RACE = {
    "White": "white",
    "Black": "black",
    "Asian-Pac-Islander": "other",
    "Amer-Indian-Eskimo": "other",
    "Other": "other",
}
_SEX = {"Female": "female", "Male": "male"}
_CLASS = {
    "Private": "private",
    "Self-emp-not-inc": "self-employed",
    "Self-emp-inc": "self-employed",
    "Local-gov": "government",
    "State-gov": "government",
    "Federal-gov": "government",
    "Without-pay": "other",
    "Never-worked": "other",
    "?": "other",
}
_SCHOOL = dict.fromkeys(
    ("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th"), "below high school"
) | {
    "HS-grad": "high school",
    "Some-college": "some college",
    "Assoc-voc": "some college",
    "Assoc-acdm": "some college",
    "Bachelors": "bachelor and above",
    "Masters": "bachelor and above",
    "Prof-school": "bachelor and above",
    "Doctorate": "bachelor and above",
}
_INCOME = {"<=50K": "up to 50,000", ">50K": "above 50,000"}
_WORDS = {
    # attribute: place in the file, and the words that the file uses
    "SEX": (9, _SEX),
    "RACE": (8, _RACE),
    "MARITAL": (5, _MARITAL),
    "EDUCATION": (3, _SCHOOL),
    "CLASS": (1, _CLASS),
    "INCOME": (14, _INCOME),
}


def adult(folder: str | None) -> Table:
    """All people of both files; unknown work classes count as `other`.

    Raises:
        ValueError: no folder, a file is missing, or an entry is none that Adult has.
    """
    if folder is None:
        raise ValueError(f"adult_dir must be a folder with {' and '.join(FILES)}, got nothing")
    records = [record for name in FILES for record in _records(pathlib.Path(folder) / name)]
    columns = {name: _translated(records, name, *words) for name, words in _WORDS.items()}
    columns["AGE"] = people.ages(_numbers(records, "age", 0))
    columns["HOURS"] = people.hours(_numbers(records, "hours-per-week", 12))
    return Table.of(TITLE, people.PEOPLE, columns)


def _records(path: pathlib.Path) -> list[list[str]]:
    if not path.is_file():
        raise ValueError(f"adult_dir must be a folder with {' and '.join(FILES)}, got no file {path}")
    lines = path.read_text(encoding="utf-8").splitlines()
    # The test file opens with a remark and ends each label with a dot.
    lines = [line.strip().rstrip(".") for line in lines if line.strip() and not line.startswith("|")]
    records = [[entry.strip() for entry in line.split(",")] for line in lines]
    for number, record in enumerate(records):
        if len(record) != _COLUMNS:
            raise ValueError(
                f"{path.name} must have {_COLUMNS} columns, got {len(record)} in record {number}"
            )
    return records


def _translated(records: list[list[str]], name: str, place: int, words: dict[str, str]) -> list[str]:
    for number, record in enumerate(records):
        if record[place] not in words:
            raise ValueError(
                f"{name} must be one of {', '.join(words)}, got {record[place]!r} in record {number}"
            )
    return [words[record[place]] for record in records]


def _numbers(records: list[list[str]], name: str, place: int) -> list[float]:
    try:
        return [float(record[place]) for record in records]
    except ValueError as error:
        raise ValueError(f"{name} must be numbers, got {error}") from None
