"""Numbers as text."""

import math

import numpy as np
import pytest

from aucstudio.notices.words import (
    class_words,
    counted,
    figure_words,
    interval_words,
    p_words,
    percent_words,
    range_words,
    setting_words,
    suggestion,
)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (1.0, "1.000"),
        (0.0, "0.000"),
        (0.5, "0.500"),
        (0.9994, "0.999"),
        (0.9995, "0.9995"),
        (0.99996, "0.99996"),
        (1 - 1e-6, "0.999999"),
        (1 - 1e-12, "1.000"),
        (0.0004, "0.0004"),
        (-0.00002, "−0.00002"),
        (-1e-17, "0.000"),
        (-0.25, "−0.250"),
        (3.25, "3.250"),
        (math.nan, "–"),
    ],
)
def test_values_near_0_and_1_are_not_rounded_to_them(value, words):
    assert figure_words(value) == words
    assert figure_words(np.float64(value)) == words


def test_every_value_round_trips_within_rounding():
    for value in np.linspace(0.0, 1.0, 4_001):
        shown = float(figure_words(value))
        assert abs(shown - value) <= 0.0005 + 1e-12
        assert (shown in (0.0, 1.0)) == (value in (0.0, 1.0))


def test_signs_intervals_and_p_values_are_formatted():
    assert figure_words(0.0004, "+") == "+0.0004"
    assert figure_words(0.0, "+") == "0.000"
    assert interval_words(0.9987, 0.99981) == "0.999–0.9998"
    assert interval_words(-0.006, 0.014) == "−0.006 to 0.014"
    assert interval_words(math.nan, math.nan) == "–"
    assert list(map(p_words, (0.41, 0.0004, 0.0123))) == ["p = 0.41", "p < 0.001", "p = 0.012"]


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("Blood Pressure", "blood_pressure"),
        ("bloodpressure", "blood_pressure"),
        ("AGE ", "age"),
        ("aeg", "age"),
        ("heigth", "height"),
        ("bim", "bmi"),
        ("blood", "blood_pressure"),
    ],
)
def test_similar_name_is_suggested(wanted, meant):
    known = ["height", "weight", "age", "blood_pressure", "bmi"]
    assert suggestion(wanted, known) == f"; did you mean {meant!r}?"


def test_dissimilar_name_has_no_suggestion():
    assert suggestion("salary", ["age", "height"]) == ""
    assert suggestion("age", []) == ""
    assert suggestion("", ["age"]) == ""
    assert suggestion("iris", ["digits", "payments"]) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10.0, "10"),
        (1000.0, "1000"),
        (1e4, "10000"),
        (1e5, "100000"),
        (123456.0, "123456"),
        (12345.678, "12346"),
        (1e6, "10⁶"),
        (2.5e7, "2.5·10⁷"),
        (1e-4, "0.0001"),
        (1e-6, "10⁻⁶"),
        (2.0**-20, "9.537·10⁻⁷"),
        (-1e-7, "−10⁻⁷"),
        (-0.5, "−0.5"),
        (0.0625, "0.0625"),
        (0.0, "0"),
    ],
)
def test_settings_have_one_notation(value, text):
    """Use one notation, not 1e+05, 10⁴ and 1000 mixed."""
    assert setting_words(value) == text


def test_shares_ranges_and_counts_are_formatted():
    assert percent_words(0.25) == "25 %"
    assert percent_words(0.005) == "0.5 %"
    assert range_words((0.0, 0.1)) == "0 … 0.1"
    assert counted(1, "split") == "1 split"
    assert counted(1000, "split") == "1,000 splits"


@pytest.mark.parametrize(
    ("name", "told"),
    [("+", "“+”"), ("-", "“-”"), ("1", "“1”"), (">= 5", "“>= 5”"), ("yes", "yes"), ("Дa", "Дa")],
)
def test_class_without_letters_is_quoted(name, told):
    assert class_words(name) == told
