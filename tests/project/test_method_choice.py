"""Suggested methods for a table, and the estimated cost of runs."""

import pytest

from aucstudio.engine import METHODS
from aucstudio.notices import text
from aucstudio.project.data.table import read_table
from aucstudio.project.data.validation import Validation
from aucstudio.project.runs.outlook import outlooks, start_here

BAND = (0.0, 0.1)


@pytest.fixture
def table_of(tmp_path):
    def make(rows, gaps=False, positives=0.3):
        path = tmp_path / f"{rows}.csv"
        lines = [
            f"{'' if gaps and k % 9 == 4 else k % 97},{k * 7 % 31},"
            f"{'yes' if k % 100 < 100 * positives else 'no'}"
            for k in range(rows)
        ]
        path.write_text("\n".join(["a,b,outcome", *lines]) + "\n")
        return read_table(path)

    return make


def recommended(table, band=BAND, validation=None):
    validation = validation or Validation()
    found = outlooks(table, validation, lambda _key: {})
    return start_here(table, validation, band, found)


def test_few_rows_suggest_methods_for_few_rows(table_of):
    reasons = recommended(table_of(100))
    assert list(reasons) == ["auc-rls", "svm-pauc", "logistic"]
    assert "training rows" in reasons["auc-rls"]


@pytest.mark.slow
def test_many_rows_suggest_scalable_methods(table_of):
    reasons = recommended(table_of(6000))
    assert list(reasons) == ["rank-svm", "svm-pauc", "nbauc", "gradient-boosting"]
    assert "pairs" in reasons["rank-svm"]


def test_partial_auc_method_is_suggested_for_suitable_ranges(table_of):
    table = table_of(400)
    assert "FPR 0 … 0.1" in recommended(table)["svm-pauc"]
    assert "svm-pauc" not in recommended(table, (0.0, 1.0))
    assert "svm-pauc" not in recommended(table, (0.0, 0.001))


def test_missing_values_suggest_gradient_boosting(table_of):
    assert "missing values" in recommended(table_of(400, gaps=True))["gradient-boosting"]


def test_estimated_time_grows_with_the_number_of_fits(table_of):
    table = table_of(400)
    one = outlooks(table, Validation("folds", folds=4), lambda _key: {})
    many = outlooks(table, Validation("folds", folds=4, repeats=5), lambda _key: {})
    assert set(one) == set(METHODS)
    assert many["nbauc"].seconds == pytest.approx(5 * one["nbauc"].seconds)
    assert many["nbauc"].details.startswith("20 fits: ")
    assert one["auc-rls"].seconds > 4 * one["auc-rls"].cost.seconds  # a run is more than its fits
    assert one["auc-rls"].words == text("outlook_time", seconds=None)


def test_methods_too_large_for_memory_are_not_suggested(table_of, monkeypatch):
    table = table_of(400)
    monkeypatch.setattr("aucstudio.project.runs.outlook.memory_limit", lambda: 2e6)
    found = outlooks(table, Validation(), lambda _key: {})
    assert found["nbauc"].problem.startswith("Too large for this computer")
    kept = start_here(table, Validation(), BAND, found)
    assert not any(found[key].problem for key in kept)


def test_leave_pair_out_is_limited_to_closed_forms(table_of):
    held = outlooks(table_of(400), Validation("leave-pair-out"), lambda _key: {})
    assert "every pair" in held["nbauc"].problem
    assert not held["auc-rls"].problem
