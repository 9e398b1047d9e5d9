"""Declared parameters: validation, parsing and formatting."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucstudio.engine import METHODS
from aucstudio.engine.kernels import KernelSettings
from aucstudio.engine.params import (
    InvalidSetting,
    Param,
    check_settings,
    declared_params,
    param,
    read_decimal,
)


@dataclasses.dataclass
class Sample:
    """One field of every kind and one without a declaration."""

    cost: float = param(1.0, help="Weight.", low=0.0, low_open=True, symbol="C", log=True)
    width: float | str = param(
        "scale", help="Width.", kind="float", low=0.0, words=("scale", "auto")
    )
    rounds: int = param(5, help="Rounds.", label="Rounds", low=1, high=10)
    fast: bool = param(False, help="Hurry.")
    mode: str | None = param(None, help="Mode.", choices={None: "no mode", "soft": "the soft one"})
    band: tuple[float, float] = param((0.0, 0.1), help="Band.", low=0.0, high=1.0)
    near: int | None = param(None, help="Nearest.", kind="int", low=1, none="all pairs")
    depth: int = param(3, help="Depth.", when={"mode": ("soft",)})
    memo: str = "no setting"


SETTINGS = declared_params(Sample)


def test_declarations_keep_their_order_and_skip_other_fields():
    assert list(SETTINGS) == ["cost", "width", "rounds", "fast", "mode", "band", "near", "depth"]
    assert SETTINGS["cost"].label == "cost"
    assert SETTINGS["rounds"].label == "Rounds"


KINDS = "float float int bool choice range int int"


def test_kind_is_inferred_from_the_default():
    assert [one.kind for one in SETTINGS.values()] == KINDS.split()


def each(values):
    """List every value with the name of its setting."""
    return [(name, value) for name, several in values.items() for value in several]


GOOD = {
    "cost": [1e-300, 3, np.float64(2.5)],
    "width": [0.0, "auto"],
    "rounds": [1, np.int64(10)],
    "fast": [True, np.bool_(False)],
    "mode": [None, "soft"],
    "band": [(0, 1), [0.25, 0.5]],
    "near": [None, 7],
}
BAD = {
    "cost": [0.0, -1.0, math.nan, math.inf, True, "1", None],
    "width": ["wide", -1e-9],
    "rounds": [0, 11, 2.5, False],
    "fast": [1, "true"],
    "mode": ["hard", 0],
    "band": [
        *((0.5, 0.5), (0.5, 0.2), (-0.1, 0.2), (0.1, 1.2), (math.nan, 0.2), (0.1, 0.2, 0.3)),
        *(0.1, "0,1"),
    ],
    "near": [0, "all"],
}
READ = {
    "cost": {" 1e-3 ": 0.001},
    "width": {"scale": "scale", "0.5": 0.5},
    "rounds": {"7": 7},
    "fast": {"Yes": True, "0": False},
    "mode": {"none": None, "SOFT": "soft"},
    "band": {"0,0.1": (0, 0.1), "[0.2; 0.4]": (0.2, 0.4), "0 … 0.1": (0, 0.1)}
    | {"0.05...0.1": (0.05, 0.1), "5%": (0, 0.05), "5 %": (0, 0.05)}
    | {"0-5%": (0, 0.05), "1–5 %": (0.01, 0.05), "1%,0.2": (0.01, 0.2), "0 0.05": (0, 0.05)}
    | {"0 - 0.05": (0, 0.05), "0–0.05": (0, 0.05), "1e-3-1e-2": (0.001, 0.01)}
    | {"0.1": (0, 0.1), "0,05": (0, 0.05), "0,1": (0, 1), "0-0.05": (0, 0.05)}
    | {"0 - 0,05": (0, 0.05), "0,01 … 0,05": (0.01, 0.05), "0,01, 0,05": (0.01, 0.05)}
    | {"2,5 %": (0, 0.025), "0,5–2,5 %": (0.005, 0.025)},
    "near": {"all": None, "": None, "12": 12},
}
UNREADABLE = {
    "cost": ["much", "nan", ""],
    "rounds": ["2.5", "99"],
    "fast": ["perhaps"],
    "mode": ["hard"],
    "band": ["0", "0.3,0.1", "0,3 - 0,1", "0,a", "-0.1,0.2", "0,0.1,0.2", "1,5", ""],
    "near": ["none of them"],
}


@pytest.mark.parametrize(("name", "value"), each(GOOD))
def test_valid_values_are_accepted(name, value):
    check_settings(Sample, {name: value})


@pytest.mark.parametrize(("name", "value"), each(BAD))
def test_invalid_values_raise_and_name_the_setting(name, value):
    with pytest.raises(InvalidSetting, match=f"^{name} must be ") as refused:
        check_settings(Sample, {name: value})
    assert refused.value.setting == name
    assert SETTINGS[name].allowed() in str(refused.value)


def test_unknown_setting_is_refused_with_the_known_ones():
    with pytest.raises(InvalidSetting, match=r"unknown setting 'gama'.*cost, width") as refused:
        check_settings(Sample, {"gama": 1})
    assert refused.value.setting == "gama"


@pytest.mark.parametrize(("name", "text"), each(READ))
def test_text_is_parsed(name, text):
    found, value = SETTINGS[name].parse(text), READ[name][text]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(("name", "text"), each(UNREADABLE))
def test_invalid_text_raises_and_names_the_setting(name, text):
    with pytest.raises(InvalidSetting, match=f"^{name} must be ") as refused:
        SETTINGS[name].parse(text)
    assert refused.value.setting == name


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_number_round_trips_as_text(value):
    cost = SETTINGS["cost"]
    assert cost.parse(cost.spell(value)) == value


@given(st.floats(0, 0.5), st.floats(0.5, 1, exclude_min=True))
def test_range_round_trips_as_text(alpha, beta):
    band = SETTINGS["band"]
    assert band.parse(band.spell((alpha, beta))) == (alpha, beta)


@pytest.mark.parametrize(
    ("name", "value"), [("fast", True), ("mode", None), ("near", None), ("rounds", 4)]
)
def test_other_values_round_trip_as_text(name, value):
    declared = SETTINGS[name]
    assert declared.parse(declared.spell(value)) == value


def test_setting_matters_only_under_its_condition():
    assert SETTINGS["depth"].matters({"mode": "soft"})
    assert not SETTINGS["depth"].matters({"mode": None})
    assert SETTINGS["cost"].matters({})


WORDS = {
    "cost": "a number greater than 0",
    "width": "a number at least 0 or 'scale' or 'auto'",
    "rounds": "a whole number at least 1 and at most 10",
    "fast": "true or false",
    "mode": "one of none, soft",
    "band": "a range within [0, 1], the smaller number first, such as '5 %', '0.05' or '0 … 0.05'",
    "near": "a whole number at least 1 or none (all pairs)",
}


def test_allowed_values_are_described():
    assert {name: SETTINGS[name].allowed() for name in WORDS} == WORDS


@pytest.mark.parametrize("name", list(SETTINGS))
def test_declaration_is_converted_to_json(name):
    plain = json.loads(json.dumps(SETTINGS[name].as_json(), allow_nan=False))
    assert plain["name"] == name
    default = SETTINGS[name].default
    assert plain["default"] == (list(default) if isinstance(default, tuple) else default)


def test_declaration_is_immutable():
    with pytest.raises(dataclasses.FrozenInstanceError):
        SETTINGS["cost"].low = -1.0
    assert isinstance(SETTINGS["cost"], Param)


WIDTH = declared_params(METHODS["auc-rls"])["gamma"]


@pytest.mark.parametrize(
    ("typed", "value"),
    [("scale/4", "scale/4"), ("scale × 2.5", "scale*2.5"), (" scale ÷ 16 ", "scale/16")],
)
def test_multiple_of_a_keyword_round_trips_as_text(typed, value):
    assert WIDTH.parse(typed) == value
    assert WIDTH.spell(value) == value
    assert WIDTH.parse(WIDTH.spell(value)) == value


@pytest.mark.parametrize(
    "text",
    ["scale*", "scale/0", "scale*0", "scale*-1", "auto*4", "scale**2", "scale*1e5", "4*scale", "*4",
     "scale*nan", "scale*٣", "scale/" + "9" * 400],
)  # fmt: skip
def test_invalid_multiple_of_a_keyword_is_refused(text):
    with pytest.raises(InvalidSetting, match="a multiple of 'scale' such as 'scale/4'"):
        WIDTH.parse(text)
    with pytest.raises(InvalidSetting, match="gamma"):
        WIDTH.check(text)


def test_width_grid_surrounds_the_scale_of_the_data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 7)) * 300.0
    widths = [KernelSettings(kernel="rbf", gamma=g).resolve_kernel(X).gamma for g in WIDTH.grid]
    suits = 1.0 / (7 * X.var())
    assert widths == pytest.approx([suits * 4.0**k for k in range(-4, 3)], rel=1e-12)
    assert WIDTH.default in WIDTH.grid


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5", 0.5),
        ("0,5", 0.5),
        (" 12,25 ", 12.25),
        ("−1,5", -1.5),
        ("1e-3", 1e-3),
        ("0,125", 0.125),
    ],
)
def test_decimal_point_and_comma_are_read(text, value):
    assert read_decimal(text) == value


@pytest.mark.parametrize("text", ["1,500", "12,500,000", "1,2,3", "1.234,5", "", "many"])
def test_number_of_two_readings_or_none_is_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011  (any text)
        read_decimal(text)
