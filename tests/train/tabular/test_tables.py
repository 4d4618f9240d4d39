"""Sources of people: files as they are published, codes as ACS has them, and what is refused."""

import sys
import types

import numpy as np
import pytest

from privacy_audit.train.tabular import SOURCES, Attribute, Table, acs
from privacy_audit.train.tabular.acs import from_columns
from privacy_audit.train.tabular.people import PEOPLE

TRAIN = "39, State-gov, 77516, Bachelors, 13, Never-married, Sales, Unmarried, White, Male, 2174, 0, 40, Cuba, >50K"
TEST = "25, ?, 226802, 11th, 7, Widowed, Sales, Own-child, Other, Female, 0, 0, 45, Cuba, <=50K."


def words(table, row):
    return [a.values[code] for a, code in zip(table.attributes, table.codes[row], strict=True)]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "adult.data").write_text(TRAIN + "\n\n")
    (tmp_path / "adult.test").write_text("|1x3 Cross validator\n" + TEST + "\n")
    return tmp_path


def test_adult_is_read_as_published(folder):
    table = SOURCES["adult"](str(folder))
    assert table.attributes == PEOPLE
    assert words(table, 0) == [
        "male", "white", "never married", "30 to 44", "bachelor and above", "government", "35 to 44", "above 50,000"
    ]  # fmt: skip
    assert words(table, 1) == [
        "female", "other", "formerly married", "under 30", "below high school", "other", "45 and over", "up to 50,000"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("White", "Martian", "RACE must be one of White, .*, got 'Martian' in record 0"),
        ("39,", "old,", "age must be numbers"),
        (", Cuba", "", "adult.data must have 15 columns, got 14 in record 0"),
    ],
)
def test_entries_that_adult_does_not_have_are_refused(folder, old, new, message):
    (folder / "adult.data").write_text(TRAIN.replace(old, new) + "\n")
    with pytest.raises(ValueError, match=message):
        SOURCES["adult"](str(folder))


def test_a_missing_folder_or_file_is_refused(folder):
    with pytest.raises(
        ValueError, match="adult_dir must be a folder with adult.data and adult.test, got nothing"
    ):
        SOURCES["adult"](None)
    (folder / "adult.test").unlink()
    with pytest.raises(ValueError, match="got no file"):
        SOURCES["adult"](str(folder))


COLUMNS = {
    "AGEP": [62.0, 5.0, 20.0],
    "SEX": [2.0, 1.0, 1.0],
    "RAC1P": [9.0, 1.0, 2.0],
    "MAR": [4.0, 5.0, 5.0],
    "SCHL": [21.0, 3.0, 16.0],
    "COW": [7.0, np.nan, 1.0],
    "WKHP": [34.0, np.nan, 60.0],
    "PINCP": [50_001.0, np.nan, 50_000.0],
}


def test_acs_codes_are_translated_and_children_left_out():
    table = from_columns({name: np.array(column) for name, column in COLUMNS.items()})
    assert len(table) == 2
    assert words(table, 0) == [
        "female", "other", "formerly married", "60 and over", "bachelor and above", "self-employed", "under 35",
        "above 50,000",
    ]  # fmt: skip
    assert words(table, 1)[3:5] == ["under 30", "high school"]
    with pytest.raises(ValueError, match="SEX must be one of 1, 2, got 3"):
        from_columns(
            {name: np.array(column) for name, column in (COLUMNS | {"SEX": [3.0, 1.0, 1.0]}).items()}
        )


def test_acs_comes_through_folktables(monkeypatch):
    class Source:
        def __init__(self, **options):
            assert options["survey_year"] == "2018"

        def get_data(self, states, download):
            return {name: np.array(column) for name, column in COLUMNS.items()}

    monkeypatch.setitem(sys.modules, "folktables", types.SimpleNamespace(ACSDataSource=Source))
    assert len(acs(None)) == 2

    def unreachable(self, states, download):
        raise OSError("no network")

    monkeypatch.setattr(Source, "get_data", unreachable)
    with pytest.raises(ValueError, match="people acs needs the network .*, got no network"):
        acs(None)
    monkeypatch.setitem(sys.modules, "folktables", None)
    with pytest.raises(ValueError, match="people acs needs folktables"):
        acs(None)


def test_values_outside_the_domain_are_refused():
    with pytest.raises(ValueError, match="SEX must be one of female, male, got 'x' in record 1"):
        Table.of("t", PEOPLE[:1], {"SEX": ["male", "x"]})
    with pytest.raises(ValueError, match="columns must include SEX, got RACE"):
        Table.of("t", PEOPLE[:1], {"RACE": ["white"]})
    with pytest.raises(ValueError, match="a must be in 0 … 1, got 2"):
        Table("t", (Attribute("a", ("x", "y")),), np.array([[2]]))
    with pytest.raises(ValueError, match=r"codes must be \[N, 1\], got \[2, 2\]"):
        Table("t", (Attribute("a", ("x", "y")),), np.zeros((2, 2), int))
    with pytest.raises(ValueError, match="attribute must be one of SEX, .*, got HAIR"):
        SOURCES["toy"](None).places(["HAIR"])
