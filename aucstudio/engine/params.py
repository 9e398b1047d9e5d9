"""Declared parameters, from which forms, command line, help and checks are derived.

A method is a dataclass whose fields are made by :func:`param`. What a field may hold is data
(:class:`Param`, ``settings.toml``), so that nothing about a setting has to be written down twice.
"""

from __future__ import annotations

import copyreg
import dataclasses
import functools
import importlib.resources
import math
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, Literal

Kind = Literal["float", "int", "bool", "choice", "range"]

_NAMES = {"float": "a number", "int": "a whole number", "bool": "true or false"}


# Ends of a range: "0, 0.05", "0 … 0.05", "0–5 %", "5%"; a dash before a number is not its sign.
# A comma between digits is a decimal comma where the text is no range otherwise: "0,05".
_END = r"\s*((?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(%?)\s*"
_RANGE = re.compile(rf"(?:{_END}(?:[,;…–−-]|\.{{2,}}|\s)){{0,1}}{_END}", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_GROUPED = re.compile(r"[1-9]\d{0,2}(,\d{3})+")  # "1,500" may be 1.5 or 1500
_MULTIPLE = re.compile(r"(?P<word>[a-z]+)(?P<sign>[*/])(?P<number>[0-9]{1,9}(\.[0-9]{1,9})?)")


@functools.cache
def declarations(*path: str) -> dict[str, Any]:
    """Read a TOML file of the engine."""
    file = importlib.resources.files("aucstudio.engine").joinpath(*path)
    return tomllib.loads(file.read_text("utf-8"))


def read_decimal(text: str) -> float:
    """Read a number with a decimal point or a decimal comma: "0.5", "0,5".

    Raises
    ------
    ValueError
        If it is not a number, or its comma may separate thousands.
    """
    plain = text.strip().replace("\u2212", "-")
    return float(plain if _GROUPED.fullmatch(plain) else plain.replace(",", "."))


def method_entries() -> dict[str, dict[str, Any]]:
    """Return what ``methods.toml`` has of every method, by id, in the order of a list."""
    return declarations("methods.toml")


class InvalidSetting(ValueError):  # noqa: N818  (named for what is wrong)
    """A setting holds a value that it cannot hold.

    Attributes
    ----------
    setting : str
        Name of the parameter, so that a window can show the sentence beside its field.
    """

    def __init__(self, setting: str, message: str) -> None:
        super().__init__(message)
        self.setting = setting

    def __reduce__(self) -> tuple[Any, ...]:
        # Unpickling would otherwise call the class with the message alone.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


@dataclasses.dataclass(frozen=True)
class Param:
    """What one setting is: its kind, its range and how people speak of it.

    Attributes
    ----------
    name : str
        The field's name.
    kind : {"float", "int", "bool", "choice", "range"}
        ``"range"`` is a pair (alpha, beta) within [low, high] with alpha < beta.
    default : object
    help : str
        One sentence; what the setting does.
    label, symbol : str
        Name on the form, and the paper's symbol.
    unit : str
        What a number counts or measures, if it has a unit.
    low, high : float or None
        Bounds, inclusive unless ``low_open``.
    log : bool
        Whether people think of this setting in powers.
    choices : mapping of value to sentence
        For ``"choice"``: the values and what each means. A value may be None.
    from_code : tuple
        Choices for those who call the engine, which no form or help offers.
    also : callable, optional
        For ``"choice"``: returns whether another value is accepted too; no form offers them.
    words : tuple of str
        Words accepted instead of a number, such as ``"scale"``.
    multiples_of : str
        The word of which multiples are accepted too: ``"scale*4"``, ``"scale/4"``.
    none : str
        If not empty, None is allowed and means this.
    when : mapping of parameter name to the values for which this setting means something
    grid : tuple
        Values a search tries, those of the simplest scorer first: it wins a tie.
    """

    kind: Kind
    default: Any
    help: str
    label: str = ""
    symbol: str = ""
    unit: str = ""
    low: float | None = None
    high: float | None = None
    low_open: bool = False
    log: bool = False
    choices: Mapping[Any, str] = dataclasses.field(default_factory=dict)
    from_code: tuple[Any, ...] = ()
    also: Callable[[Any], bool] | None = None
    words: tuple[str, ...] = ()
    multiples_of: str = ""
    none: str = ""
    when: Mapping[str, tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    grid: tuple[Any, ...] = ()
    name: str = ""

    def allowed(self) -> str:
        """Return in words what the setting can hold."""
        if self.kind == "choice":
            return "one of " + ", ".join(_spell(value) for value in self.choices)
        if self.kind == "range":
            none = f" or none ({self.none})" if self.none else ""
            within = f"within [{self.low:g}, {self.high:g}], the smaller number first"
            return f"a range {within}, such as '5 %', '0.05' or '0 … 0.05'{none}"
        parts = [_NAMES[self.kind] + self._bounds()]
        parts += [repr(word) for word in self.words]
        if self.multiples_of:
            word = self.multiples_of
            parts.append(f"a multiple of {word!r} such as '{word}/4'")
        if self.none:
            parts.append(f"none ({self.none})")
        return " or ".join(parts)

    def _bounds(self) -> str:
        if self.kind == "bool":
            return ""
        above = "greater than" if self.low_open else "at least"
        texts = []
        if self.low is not None:
            texts.append(f"{above} {self.low:g}")
        if self.high is not None:
            texts.append(f"at most {self.high:g}")
        return " " + " and ".join(texts) if texts else ""

    def check(self, value: Any) -> None:
        """Raise :class:`InvalidSetting` unless the setting can hold ``value``."""
        if not self._holds(value):
            raise self._invalid(_spell(value))

    def _invalid(self, value: str) -> InvalidSetting:
        return InvalidSetting(self.name, f"{self.name} must be {self.allowed()}; it is {value}")

    def _holds(self, value: Any) -> bool:
        if self.kind == "choice":
            known = (*self.choices, *self.from_code)
            among = any(value is one or value == one for one in known)
            return among or (self.also is not None and self.also(value))
        if value is None:
            return bool(self.none)
        if isinstance(value, str):
            return value in self.words or self._is_multiple(value)
        if self.kind == "bool":
            return isinstance(value, bool) or type(value).__name__ == "bool"
        if self.kind == "range":
            return self._holds_range(value)
        wanted = Integral if self.kind == "int" else Real
        if isinstance(value, bool) or not isinstance(value, wanted):
            return False
        return self._within(value)

    def _is_multiple(self, text: str) -> bool:
        word, factor = multiple(text)
        return word == self.multiples_of != "" and 0 < factor < math.inf

    def _holds_range(self, value: Any) -> bool:
        try:
            alpha, beta = (float(end) for end in value)
        except (TypeError, ValueError, OverflowError):
            return False
        return self._within(alpha) and self._within(beta) and alpha < beta

    def _within(self, number: Any) -> bool:
        if not abs(number) <= sys.float_info.max:  # nor a whole number that is larger
            return False
        if self.low is not None and (number < self.low or (self.low_open and number == self.low)):
            return False
        return self.high is None or number <= self.high

    def parse(self, text: str) -> Any:
        """Read a value from a command line or an input field, and check it."""
        value = self._read_text(text.strip())
        self.check(value)
        return value

    def _read_text(self, text: str) -> Any:
        if self.kind == "choice":
            return next((v for v in self.choices if _spell(v) == text.lower() or v == text), text)
        written = text.replace("×", "*").replace("÷", "/").replace(" ", "")
        if written in self.words or self._is_multiple(written):
            return written
        if self.none and text.lower() in ("none", "all", ""):
            return None
        try:
            return self._read_number(text)
        except (KeyError, ValueError):
            raise self._invalid(repr(text)) from None

    def _read_number(self, text: str) -> Any:
        if self.kind == "bool":
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
                text.lower()
            ]
        if self.kind == "range":
            return self._read_range(text)
        return int(text) if self.kind == "int" else read_decimal(text)

    def _read_range(self, text: str) -> tuple[float, float]:
        """Read two ends, or the upper one alone; a per cent sign is for both."""
        written = text.strip("[]()")
        readings = [written, _DECIMAL_COMMA.sub(".", written)]
        if "%" in text:
            readings.reverse()  # "2,5 %" is hardly 2 to 5 %
        found = [ends for one in readings if (ends := self._ends_of(one)) is not None]
        if not found:
            raise ValueError(text)
        return next(filter(self._holds_range, found), found[0])

    def _ends_of(self, text: str) -> tuple[float, float] | None:
        found = _RANGE.fullmatch(text)
        if found is None:
            return None
        low, low_sign, high, sign = found.groups()
        first = float(low or self.low or 0.0) / (100.0 if low and (low_sign or sign) else 1.0)
        return first, float(high) / (100.0 if sign else 1.0)

    def spell(self, value: Any) -> str:
        """Write a value the way :meth:`parse` reads it."""
        if self.kind == "range" and value is not None:
            return ",".join(_spell(float(end)) for end in value)
        return _spell(value)

    def matters(self, values: Mapping[str, Any]) -> bool:
        """Return whether the setting has an effect with the other ``values``."""
        return all(values.get(name) in wanted for name, wanted in self.when.items())

    def as_json(self) -> dict[str, Any]:
        """Return the declaration as plain data for ``aucstudio methods --json``."""
        plain = {
            field.name: list(value) if isinstance(value, tuple) else value
            for field in dataclasses.fields(self)
            if field.name not in ("from_code", "also")
            for value in [getattr(self, field.name)]
        }
        return plain | {
            "choices": [{"value": v, "help": text} for v, text in self.choices.items()],
            "multiples_of": self.multiples_of or None,
            "none": self.none or None,
            "when": {name: list(values) for name, values in self.when.items()},
        }


def multiple(text: str) -> tuple[str, float]:
    """Read ``scale*4`` or ``scale/4`` as a word and its factor; a word alone has the factor 1."""
    found = _MULTIPLE.fullmatch(text)
    if found is None:
        return text, 1.0
    number = float(found["number"])
    if found["sign"] == "*":
        return found["word"], number
    return found["word"], 1.0 / number if number else math.inf


def _spell(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        # The shortest text that reads back to the same number.
        return repr(float(value)).removesuffix(".0")
    return str(value)


def param(default: Any, variant: str = "", **more: Any) -> Any:
    """Declare a dataclass field that is a method's setting; see :class:`Param`.

    What it can hold and its texts are in ``settings.toml`` under the field's name, with what
    differs for a ``variant`` of it. A setting of one method may state them here instead.
    """
    return dataclasses.field(default=default, metadata={"variant": variant, "more": more})


def _read(value: Any) -> Any:
    """Return a value of the table: a list as a tuple, and the text none as None."""
    if isinstance(value, list):
        return tuple(map(_read, value))
    if isinstance(value, dict):
        return {_read(name): _read(inner) for name, inner in value.items()}
    return None if value == "none" else value


def _kind_of(default: Any, facts: Mapping[str, Any]) -> Kind:
    if "choices" in facts:
        return "choice"
    if isinstance(default, bool):
        return "bool"
    if isinstance(default, int):
        return "int"
    return "range" if isinstance(default, tuple) else "float"


def declared_params(method: type) -> dict[str, Param]:
    """List a method's settings in the order of their declaration."""
    return dict(_declared(method))


@functools.cache
def _declared(method: type) -> dict[str, Param]:
    return {
        field.name: _made(field) for field in dataclasses.fields(method) if "more" in field.metadata
    }


def _made(field: dataclasses.Field[Any]) -> Param:
    shared = dict(declarations("settings.toml").get(field.name, {}))
    variants, variant = shared.pop("for", {}), field.metadata["variant"]
    own = variants[variant] if variant else {}
    facts = {name: _read(fact) for name, fact in (shared | own).items()} | field.metadata["more"]
    known = {"kind": _kind_of(field.default, facts), "label": field.name} | facts
    return Param(name=field.name, default=field.default, **known)


def check_settings(method: type, values: Mapping[str, Any]) -> None:
    """Raise :class:`InvalidSetting` for an unknown setting or a value out of range."""
    known = declared_params(method)
    for name, value in values.items():
        if name not in known:
            raise InvalidSetting(
                name, f"unknown setting {name!r}; this method has " + (", ".join(known) or "none")
            )
        known[name].check(value)
