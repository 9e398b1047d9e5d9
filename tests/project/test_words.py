"""Numbers in words: as many digits as they deserve."""

import math

import numpy as np
import pytest

from aucstudio.project.words import figure_words, interval_words, suggestion


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
def test_figures_that_are_not_0_or_1_do_not_look_it(value, words):
    assert figure_words(value) == words
    assert figure_words(np.float64(value)) == words


def test_every_figure_reads_back_to_what_it_was():
    for value in np.linspace(0.0, 1.0, 4_001):
        shown = float(figure_words(value))
        assert abs(shown - value) <= 0.0005 + 1e-12
        assert (shown in (0.0, 1.0)) == (value in (0.0, 1.0))


def test_signs_and_intervals():
    assert figure_words(0.0004, "+") == "+0.0004"
    assert figure_words(0.0, "+") == "0.000"
    assert interval_words(0.9987, 0.99981) == "0.999 … 0.9998"


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        ("Blood Pressure", "blood_pressure"),
        ("bloodpressure", "blood_pressure"),
        ("AGE ", "age"),
        ("aeg", "age"),
        ("heigth", "height"),
    ],
)
def test_a_name_that_is_not_known_is_offered_its_nearest(wanted, meant):
    known = ["height", "weight", "age", "blood_pressure", "bmi"]
    assert suggestion(wanted, known) == f"; did you mean {meant!r}?"


def test_a_name_that_is_near_nothing_is_offered_nothing():
    assert suggestion("salary", ["age", "height"]) == ""
    assert suggestion("age", []) == ""
    assert suggestion("", ["age"]) == ""
