"""Dates, times and durations of SAS, Stata and SPSS follow the formats of their columns."""

import datetime

import pytest

from aucstudio.project.data.columns import spell_cell
from aucstudio.project.data.readers.statistics import conversion, is_in_catalog, on_calendar
from aucstudio.project.data.table import read_table
from tests.project.test_formats import FIXTURES

DAY = datetime.date(2019, 1, 4)


@pytest.mark.parametrize(
    ("package", "form", "number", "value"),
    [
        ("stata", "%td", 21553, DAY),
        ("stata", "%dD_m_Y", 21553, DAY),
        ("stata", "%-tdCCYY-NN-DD", 21553, DAY),
        ("stata", "%tC", 21553 * 86_400_000, datetime.datetime(2019, 1, 4)),
        ("stata", "%tcHH:MM", 21553 * 86_400_000 + 3_600_000, "01:00:00"),
        ("spss", "EDATE10", 13765939200, DAY),
        ("spss", "DATETIME23.2", 13765939260.5, datetime.datetime(2019, 1, 4, 0, 1, 0, 500_000)),
        ("spss", "DTIME12", 90_061.25, "25:01:01.25"),
        ("sas", "YYMMN6.", 21553, DAY),
        ("sas", "E8601DT19.", 21553 * 86_400, datetime.datetime(2019, 1, 4)),
        ("sas", "nldatm.", 21553 * 86_400, datetime.datetime(2019, 1, 4)),
        ("stata", "%05.0f", 1067, "01067"),
        ("spss", "N5", 1067, "01067"),
        ("sas", "Z5.", 1067, "01067"),
        ("sas", "Z5.", 10.5, 10.5),
        ("sas", "TOD5.", 21553 * 86_400 + 60, "00:01:00"),
        ("sas", "TIME8.", -3_600, "-01:00:00"),
    ],
)
def test_column_format_determines_the_value(package, form, number, value):
    assert conversion(package, form)(number) == value


@pytest.mark.parametrize(
    ("package", "form"),
    [
        *(("stata", form) for form in ("%9.0g", "%tm", "%tq", "%-12s", "")),
        *(("spss", form) for form in ("F8.2", "PCT8.1", "MONTH9", "WKDAY9", "A20")),
        *(("sas", form) for form in ("BEST12.", "DOLLAR8.", "DATEX.", "SEX.", "Z2.", "")),
    ],
)
def test_numbers_of_other_formats_are_not_converted(package, form):
    assert conversion(package, form) is None


def test_sas_catalog_formats_are_recognised():
    forms = ["SEXF.", "REGION", "BEST12.", "8.2", "F8.", "", "DATE9.", "Z5.", "COMMAX10.2"]
    assert [form for form in forms if is_in_catalog("sas", form)] == ["SEXF.", "REGION"]
    assert not is_in_catalog("spss", "SEXF.")


def test_codes_labelled_in_a_catalog_are_categories():
    table = read_table(FIXTURES / "catalog.xpt")
    assert [column.role for column in table.columns] == ["category", "category", "number", "label"]
    assert table.column("PLZ").values[0] == "01067"
    assert any("a SAS catalog: 'REG' (REGION)" in note for note in table.notes)


def test_invalid_dates_stay_numbers():
    convert = conversion("sas", "DATE9.")
    assert on_calendar(convert, [21553.0, None, 1e12, "A"]) == ([DAY, None, 1e12, "A"], 1)
    assert on_calendar(convert, [float("inf")])[1] == 1


@pytest.mark.parametrize(
    ("name", "dates"),
    [
        ("dates.dta", {"seen": "2019-01-04", "left": "2019-01-04", "at": "2019-01-04 07:00"}),
        ("dates.sav", {"seen": "2019-01-04", "quarter": "2019-01-04"}),
        ("dates.xpt", {"SEEN": "2019-01-04", "LEFT": "2019-01-04", "AT": "2019-01-04"}),
    ],
)
def test_dates_of_any_layout_are_read(name, dates):
    table = read_table(FIXTURES / name)
    for column, day in dates.items():
        found = next(c for c in table.columns if c.name.upper() == column.upper())
        assert spell_cell(found, found.values[1]).startswith(day)


def test_spss_durations_are_read_as_hours():
    stay = read_table(FIXTURES / "dates.sav").column("stay").values
    assert stay[:8].tolist() == [0, 5, 10, 15, 20, 25, 30, 35]
