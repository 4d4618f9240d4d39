"""Eight attributes of a person that census-like sources share, in few values each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .table import Attribute

PEOPLE = (
    Attribute("SEX", ("female", "male")),
    Attribute("RACE", ("white", "black", "other")),
    Attribute("MARITAL", ("married", "formerly married", "never married")),
    Attribute("AGE", ("under 30", "30 to 44", "45 to 59", "60 and over")),
    Attribute("EDUCATION", ("below high school", "high school", "some college", "bachelor and above")),
    Attribute("CLASS", ("private", "self-employed", "government", "other")),
    Attribute("HOURS", ("under 35", "35 to 44", "45 and over")),
    Attribute("INCOME", ("up to 50,000", "above 50,000")),
)
_AGES, _HOURS = (30, 45, 60), (35, 45)


def ages(years: Sequence[float]) -> list[str]:
    """Age groups of ages in years."""
    return _grouped("AGE", years, _AGES)


def hours(weekly: Sequence[float]) -> list[str]:
    """Groups of hours worked a week."""
    return _grouped("HOURS", weekly, _HOURS)


def _grouped(name: str, numbers: Sequence[float], limits: tuple[float, ...]) -> list[str]:
    values = next(attribute.values for attribute in PEOPLE if attribute.name == name)
    return [values[place] for place in np.digitize(numbers, limits)]
