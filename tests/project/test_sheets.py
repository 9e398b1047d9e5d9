"""CSV for spreadsheets: formulas are escaped and numbers are unchanged."""

import csv
import io
import math

import numpy as np
import pytest

from aucstudio.project.store.scores_file import CsvForm, write_csv


def written(*row, delimiter=","):
    target = io.StringIO(newline="")
    write_csv(target, [row], CsvForm(delimiter))
    (cells,) = csv.reader(io.StringIO(target.getvalue(), newline=""), delimiter=delimiter)
    return cells


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
@pytest.mark.parametrize(
    "text",
    [
        '=HYPERLINK("http://example.org";"x")',
        "=1+1",
        "+SUM(A1)",
        "-2+3",
        "@A1",
        "\t=1",
        "\r=1",
        "-1 day",
        "--1",
        "+",
    ],
)
def test_formula_text_is_escaped_with_an_apostrophe(text, delimiter):
    assert written(1, text, delimiter=delimiter) == ["1", f"'{text}"]


@pytest.mark.parametrize("text", ["yes", "1=2", "a-b", "-1", "+1", "-0.5e-3", "", "'=x", "−1"])
def test_other_text_is_unchanged(text):
    assert written(1, text) == ["1", text]


def test_numbers_keep_every_digit():
    numbers = [0.1 + 0.2, -1e-300, -math.inf, np.float64(-1 / 3), 5, np.int64(-7), True]
    cells = written(*numbers, math.nan, None, np.float64("nan"))
    assert [float(cell) for cell in cells[:6]] == [float(number) for number in numbers[:6]]
    assert cells[6:] == ["True", "", "", ""]


def test_exported_plot_data_are_escaped():
    from aucstudio.gui.exports import columns_as_csv

    assert columns_as_csv({"=A1": ["@b", "c"], "n": [-1.5, 2]}) == "'=A1,n\n'@b,-1.5\nc,2\n"


def test_formula_class_names_are_escaped_in_the_scores(tmp_path, capsys):
    from aucstudio.cli import main

    rows = "".join(f"{k % 7},{'=cmd()' if k % 3 else '-1'}\n" for k in range(60))
    table, model = tmp_path / "t.csv", tmp_path / "m.aucmodel"
    table.write_text("x,label\n" + rows)
    train = ["train", str(table), "--method", "rls", "--save-model", str(model)]
    assert main([*train, "--label", "label", "--positive", "-1"]) == 0
    capsys.readouterr()
    assert main(["score", str(model), str(table)]) == 0
    text = capsys.readouterr().out
    lines = list(csv.reader(io.StringIO(text)))
    assert {line[3] for line in lines[1:]} <= {"'=cmd()", "-1"}
    assert len(lines) == 61
