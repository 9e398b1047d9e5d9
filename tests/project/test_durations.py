"""Durations are read as hours equally by Python, DuckDB and exported scripts."""

import datetime
import runpy

import numpy as np
import openpyxl
import pytest

from aucstudio.project.data.disk.stream import open_stream
from aucstudio.project.data.table import read_table
from aucstudio.project.data.text import delimited
from aucstudio.project.data.text.numerals import NumberFormat
from aucstudio.project.store.export import export_model
from tests.project.test_date_parts import model_of

CELLS = {
    "h:m:s": {
        "26:30:05": 26 + 1805 / 3600,
        "00:05:00": 300 / 3600,
        "1 day, 2:03:04": 26 + 184 / 3600,
        "0 days 00:00:00.25": 0.25 / 3600,
    },
    "d h m s": {
        "1h 05m": 65 / 60,
        "2 d 3 h": 51.0,
        "45 min": 0.75,
        "1 day, 2 hours 3 minutes": 26.05,
        "3 Tage 4 Std": 76.0,
        "1h30m5.5s": 1.5 + 5.5 / 3600,
    },
    "PnDTnHnMnS": {"PT1H5M": 65 / 60, "P1DT2H": 26.0, "PT0.5S": 0.5 / 3600, "P2D": 48.0},
}
NOT = {
    "h:m:s": ("24:60:00", "1:05", "a:00:00"),
    "d h m s": ("", "h", "5", "5 m 3 h"),
    "PnDTnHnMnS": ("P", "PT", "P1DT", "PT5", "T5M"),
}


@pytest.mark.parametrize("layout", CELLS)
def test_durations_are_read_as_hours(layout):
    form = NumberFormat(layout=layout)
    for cell, hours in CELLS[layout].items():
        assert form.read(cell) == pytest.approx(hours, abs=1e-12)
    assert not any(map(form.matches, NOT[layout]))


def spell_clock(minutes):
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"


SPELLED = {
    "units": lambda m: f"{m // 60}h {m % 60:02d}m",
    "clock": spell_clock,
    "iso": lambda m: f"PT{m // 60}H{m % 60}M",
    "pandas": lambda m: f"{m // 1440} days {spell_clock(m % 1440)}",
}
MINUTES = [65 + 37 * k for k in range(60)]


def write(path, spell):
    lines = [f"{k % 7},{spell(m)},{'yes' if k % 3 else 'no'}\n" for k, m in enumerate(MINUTES)]
    path.write_text("x,stay,y\n" + "".join(lines))
    return path


@pytest.mark.parametrize("way", SPELLED)
@pytest.mark.parametrize("short", [True, False])
def test_column_of_durations_is_numeric(tmp_path, monkeypatch, way, short):
    monkeypatch.setattr(delimited, "is_small", lambda *_: short)
    path = write(tmp_path / "t.csv", SPELLED[way])
    table = read_table(path)
    column = table.column("stay")
    assert (column.kind, column.is_date, column.role) == ("number", False, "number")
    np.testing.assert_allclose(column.values, np.array(MINUTES) / 60)
    assert "column stay holds durations, read as hours" in table.notes
    stream = open_stream(path)
    try:
        np.testing.assert_array_equal(
            stream.window(0, 60, ["stay"]).column("stay").values, column.values
        )
    finally:
        stream.close()


@pytest.mark.parametrize(
    "cells", [["45 min", "30 min"], ["PT", "DE"], ["5m", "7m"], ["08:30", "26:10"]]
)
def test_units_codes_and_ambiguous_cells_are_not_durations(tmp_path, cells):
    path = tmp_path / "t.csv"
    path.write_text("x,a,y\n" + "".join(f"{k},{cells[k % 2]},{k % 2}\n" for k in range(40)))
    assert not any("holds durations" in note for note in read_table(path).notes)


def test_exported_script_reads_durations(tmp_path):
    path = write(tmp_path / "t.csv", SPELLED["units"])
    table = read_table(path)
    model = model_of(table).splits[0].model
    export_model(model, "script", tmp_path / "m.py")
    script = runpy.run_path(str(tmp_path / "m.py"))
    read = script["read_numbers"]("stay", [SPELLED["units"](m) for m in MINUTES], ".")
    np.testing.assert_array_equal(read, table.column("stay").values)
    export_model(model, "json", tmp_path / "m.json")
    assert "days since 1970-01-01" not in (tmp_path / "m.json").read_text()


@pytest.mark.slow
def test_long_durations_of_a_sheet_are_read_as_hours(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["x", "stay", "y"])
    for k, minutes in enumerate(MINUTES):
        book.active.append([k, datetime.timedelta(minutes=minutes), "yes" if k % 3 else "no"])
    book.save(tmp_path / "t.xlsx")
    table = read_table(tmp_path / "t.xlsx")
    np.testing.assert_allclose(table.column("stay").values, np.array(MINUTES) / 60)
    assert "durations in this sheet are read as hours" in table.notes
