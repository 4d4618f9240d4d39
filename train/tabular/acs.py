"""American Community Survey (ACS) through the package folktables, which fetches it from the Census Bureau."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from . import people
from .table import Table

STATE, YEAR = "CA", "2018"
TITLE = f"ACS {YEAR}, {STATE}"
_NEEDED = ("AGEP", "SEX", "RAC1P", "MAR", "SCHL", "COW", "WKHP", "PINCP")
_SEX = {1: "male", 2: "female"}
_RACE = {1: "white", 2: "black"} | dict.fromkeys(range(3, 10), "other")
_MARITAL = {1: "married", 5: "never married"} | dict.fromkeys((2, 3, 4), "formerly married")
_CLASS = (
    dict.fromkeys((1, 2), "private")
    | dict.fromkeys((3, 4, 5), "government")
    | dict.fromkeys((6, 7), "self-employed")
    | dict.fromkeys((8, 9), "other")
)
_SCHOOL_ENDS, _SCHOOL = (16, 18, 21), people.PEOPLE[4].values
_LEAST_AGE, _INCOME = 17, 50_000


def acs(folder: str | None) -> Table:
    """Working people from 17 of one state; `folder` keeps what is fetched (by default folktables' own).

    Raises:
        ValueError: the package is missing, the data cannot be fetched, or a code is none that ACS has.
    """
    try:
        import folktables
    except ImportError:
        raise ValueError(
            "people acs needs folktables (`pip install 'privacy-audit[tables]'`), got none"
        ) from None
    source = folktables.ACSDataSource(
        survey_year=YEAR, horizon="1-Year", survey="person", **({"root_dir": folder} if folder else {})
    )
    try:
        frame = source.get_data(states=[STATE], download=True)
    except OSError as error:
        raise ValueError(f"people acs needs the network or a folder that holds it, got {error}") from None
    return from_columns({name: np.asarray(frame[name], np.float64) for name in _NEEDED})


def from_columns(columns: Mapping[str, np.ndarray]) -> Table:
    """From ACS's numeric codes; people with an empty entry (children, not working) are left out."""
    whole = np.all([np.isfinite(columns[name]) for name in _NEEDED], axis=0)
    whole &= columns["AGEP"] >= _LEAST_AGE
    kept = {name: columns[name][whole] for name in _NEEDED}
    return Table.of(
        TITLE,
        people.PEOPLE,
        {
            "SEX": _words("SEX", kept["SEX"], _SEX),
            "RACE": _words("RAC1P", kept["RAC1P"], _RACE),
            "MARITAL": _words("MAR", kept["MAR"], _MARITAL),
            "CLASS": _words("COW", kept["COW"], _CLASS),
            "EDUCATION": [_SCHOOL[place] for place in np.digitize(kept["SCHL"], _SCHOOL_ENDS)],
            "AGE": people.ages(kept["AGEP"]),
            "HOURS": people.hours(kept["WKHP"]),
            "INCOME": [people.PEOPLE[7].values[int(income > _INCOME)] for income in kept["PINCP"]],
        },
    )


def _words(name: str, codes: Sequence[float], words: Mapping[int, str]) -> list[str]:
    for code in codes:
        if code not in words:
            raise ValueError(f"{name} must be one of {', '.join(map(str, words))}, got {code:g}")
    return [words[int(code)] for code in codes]
