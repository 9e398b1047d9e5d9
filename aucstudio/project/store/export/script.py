"""Export a model as one Python file that needs only numpy."""

from __future__ import annotations

import base64
import math
import re
import textwrap
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.calibration import TILT, Calibration
from aucstudio.engine.ensembles.combined import CombinationScorer, ViewedScorer
from aucstudio.engine.scorers import Scorer, inner_scorers
from aucstudio.project.data.preparing.preparation import category_features, number_features
from aucstudio.project.data.preparing.scales import MISSING, RARE
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.data.text.numerals import FOREIGN_DIGITS, OWN_DIGITS, NumberFormat
from aucstudio.project.resources import resource_path
from aucstudio.project.runs.models.model import Model
from aucstudio.project.store.archive import array_to_bytes
from aucstudio.project.store.export.document import ScorerVisitor, describe, printable

_MARK = re.compile(r"^# section (\w+)\n", re.MULTILINE)
_MOST_READABLE = 200
_WIDTH = 98


def check(model: Model) -> None:
    """Refuse a model whose kind of scorer a script has no function for."""
    _ScriptWriter.check(model)


def write_script(model: Model) -> bytes:
    """Write the script: the program in ``resources/export``, with this model in it.

    All that comes from the model goes in as literals, so that no name in it can become code.

    Raises
    ------
    InputError
        If the script has no function for the kind of scorer.
    """
    check(model)
    program = resource_path("export", "model_script.py").read_text(encoding="utf-8")
    head, *rest = _MARK.split(program)
    sections = dict(zip(rest[::2], rest[1::2], strict=True))
    constants = "\n".join(_constants(model))
    parts = [_described(head, model), *(sections[kind] for kind in _kinds(model.scorer))]
    if model.calibration is not None:
        parts += [sections[model.calibration.form], sections["calibration"]]
    called = {
        "written": "read_written",
        "dates": "read_date",
        "parts": "take_part",
        "packed": "unpack(",
    }
    needed = [name for name, call in called.items() if call in constants]
    parts += [sections[name] for name in ("command", *needed)]
    for modules, section in (("base64|io|zlib", "packed"), ("datetime", "dates")):
        if section not in needed:
            parts[0] = re.sub(rf"^import ({modules})\n", "", parts[0], flags=re.MULTILINE)
    return "".join([*parts, constants, "\n\n\n", sections["end"]]).encode()


def _described(head: str, model: Model) -> str:
    """Replace the docstring of the program by one that describes this model."""
    first, *others = describe(model)
    calibrated = " ``probability(scores)`` returns probabilities." if model.calibration else ""
    words = f"""\
{first}

{" ".join(others)}

Needs Python 3.10 or newer and numpy. On a CSV file, by the names of its columns:

    python THIS_FILE TABLE.csv -o SCORES.csv

From Python, ``score(columns)`` takes a dict of lists and returns the raw scores as an array;
``predict(scores)`` returns the predicted class of each.{calibrated}
"""
    lines = (textwrap.fill(_harmless(line), 100, **_UNBROKEN) for line in words.splitlines())
    return '"""' + "\n".join(lines) + '\n"""' + head.split('"""', 2)[2]


_UNBROKEN: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}


def _harmless(text: str) -> str:
    """Escape what could end a docstring or is not printable."""
    return printable(text.replace("\\", "\\\\").replace('"', '\\"'))


def _constants(model: Model) -> Iterable[str]:
    learnt = model.preparation
    numbers, categories = number_features(learnt), category_features(learnt)
    columns = ("median", "mean", "scale", "unit", "low", "high")
    figures = {
        one.name: tuple(_Float(getattr(one, column)) for column in columns) for one in numbers
    }
    yield f"POSITIVE = {model.positive!r}"
    yield f"NEGATIVE = {model.negative!r}"
    yield f"INTERCEPT = {float(model.intercept)!r}"
    yield "# The positive class is predicted above it."
    yield f"THRESHOLD = {_Float(model.threshold)!r}"
    yield "# Name: what replaces a missing value, then what is subtracted, then what it is"
    yield "# divided by; the unit to compute in; limits beyond which a number counts as missing."
    yield _mapping("NUMBERS", figures)
    yield "# Name: numbers that mean a missing value."
    yield _mapping("ABSENT", dict(learnt.absent))
    yield "# Name: where numbers become ranks, knots and their heights."
    curves = {one.name: tuple(part.tolist() for part in one.curve) for one in numbers if one.curve}
    yield _mapping("KNOTS", curves)
    yield "# Name: what each text counts as, in a column of texts that becomes a number."
    yield _mapping("SHARES", {name: dict(shares) for name, shares in learnt.shares.items()})
    yield from _written(model)
    yield "# Name: the column of dates that it is a part of, and what takes it."
    yield _parts(model)
    yield "# Columns with one more that marks their missing values."
    yield f"INDICATED = {learnt.indicated!r}"
    yield "# Columns in which every other text counts as RARE."
    yield f"REST = {learnt.rest!r}"
    yield f"RARE = {RARE!r}"
    yield f"KEEP_GAPS = {bool(learnt.keep_gaps)!r}"
    yield "# Name: its levels; any other text is not one of them."
    yield _mapping("CATEGORIES", {one.name: one.levels for one in categories})
    yield "# Name: levels that are spelled in another way, and as what."
    spelled = {
        one.name: {text: one.levels[place] for text, place in one.places.items()}
        for one in categories
        if one.same
    }
    yield _mapping("SPELLED", spelled)
    yield f"MISSING = {MISSING!r}"
    dialect = model.schema.dialect or Dialect()
    yield f"TEXT_GAPS = {_set(dialect.text_words)}"
    yield f"NUMBER_GAPS = {_set(dialect.number_words)}"
    yield f"rank = {_ScriptWriter().visit(model.scorer)}"
    yield from _calibration(model)


def _written(model: Model) -> Iterable[str]:
    """Write how numbers and dates of columns are read that are not plain numbers."""
    known = model.schema.by_name
    forms = {name: known[name].number for name in model.preparation.columns if name in known}
    odd = {name: form for name, form in forms.items() if form and _is_odd(form)}
    lines = "".join(f"    {name!r}: {_reading(form)},\n" for name, form in odd.items())
    yield "# Name: how its numbers or dates are written, where not as Python writes numbers."
    yield f"WRITTEN = {{\n{lines}}}" if lines else "WRITTEN = {}"
    if "read_written" in lines:
        yield "# Digits of other scripts."
        yield f"DIGITS = str.maketrans(\n    {FOREIGN_DIGITS!r},\n    {OWN_DIGITS!r},\n)"


def _parts(model: Model) -> str:
    parts = model.preparation.parts
    lines = "".join(
        f"    {name!r}: ({part.column!r}, functools.partial(take_part, part={part.part!r}, "
        f"clock={part.clock!r})),\n"
        for name, part in parts.items()
    )
    return f"PARTS = {{\n{lines}}}" if lines else "PARTS = {}"


def _is_odd(form: NumberFormat) -> bool:
    return form.grouped or form.dressed or bool(form.layout)


def _reading(form: NumberFormat) -> str:
    if form.layout:
        ways = [dates.pattern(way) for way in dates.ways_of(form.layout)]
        lines = "".join(f"            {way!r},\n" for way in ways)
        return f"functools.partial(\n        read_date,\n        ways=[\n{lines}        ],\n    )"
    named = {"pattern": form.pattern, "decimal": form.decimal, "marks": form.marks}
    lines = "".join(f"        {name}={value!r},\n" for name, value in named.items())
    return f"functools.partial(\n        read_written,\n{lines}    )"


def _kinds(scorer: Scorer) -> list[str]:
    """Name the functions that a scorer needs, each once; the inner ones come first."""
    inner = [part.kind for part in inner_scorers(scorer)]
    return [*dict.fromkeys([*reversed(inner), scorer.kind])]


class _ScriptWriter(ScorerVisitor[str]):
    """Writes scorers as functions of prepared rows."""

    title = "a Python script"

    def _call(self, scorer: Scorer, given: Mapping[str, str]) -> str:
        lines = "".join(f"    {name}={value},\n" for name, value in given.items())
        return f"functools.partial(\n    {scorer.kind},\n{lines})"

    def _all(self, scorer: Scorer) -> str:
        return self._call(scorer, _literals(scorer))

    linear = kernel = fourier = trees = additive = _all

    def combination(self, scorer: CombinationScorer) -> str:
        rows = "\n".join(
            f"({self.visit(part.scorer)}, {part.factor!r}, {part.smoothing!r}),"
            for part in scorer.parts
        )
        return self._call(scorer, {"parts": f"[\n{rows}\n]", "base": repr(scorer.base)})

    def viewed(self, scorer: ViewedScorer) -> str:
        view = {name: _array(getattr(scorer.view, name)) for name in scorer.layout}
        return self._call(scorer, {**view, "inner": self.visit(scorer.scorer)})


def _literals(part: Scorer | Calibration) -> dict[str, str]:
    """Return settings and arrays as literals."""
    settings = {name: repr(value) for name, value in part.settings().items()}
    return settings | {name: _array(value) for name, value in part.arrays().items()}


def _calibration(model: Model) -> Iterable[str]:
    made = model.calibration
    if made is None:
        yield "probability = None"
        return
    given = _literals(made)
    of_scores = {name: given.pop(name) for name in ("centre", "scale")} | {"tilt": repr(TILT)}
    yield f"form = functools.partial(\n    {made.form},"
    yield from (f"    {name}={value}," for name, value in given.items())
    yield ")"
    numbers = ", ".join(f"{name}={value}" for name, value in of_scores.items())
    yield f"probability = functools.partial(calibrated, {numbers}, form=form)"


class _Float(float):
    """A number that is written so that Python reads it back, infinite ones too."""

    def __repr__(self) -> str:
        return f"{'-' if self < 0 else ''}math.inf" if math.isinf(self) else float.__repr__(self)


def _mapping(name: str, entries: dict[str, Any]) -> str:
    lines = "".join(f"    {key!r}: {value!r},\n" for key, value in entries.items())
    return f"{name} = {{\n{lines}}}" if entries else f"{name} = {{}}"


def _set(words: Iterable[str]) -> str:
    return "{" + ", ".join(map(repr, sorted(words))) + "}"


def _array(array: NDArray[Any]) -> str:
    """Write an array as literals that can be read, or packed where it is long."""
    if array.size <= _MOST_READABLE and np.isfinite(array).all() and array.size:
        rows = textwrap.wrap(repr(array.tolist()), _WIDTH - 8, **_UNBROKEN)
        return "np.array(\n" + textwrap.indent("\n".join(rows), " " * 8) + "\n    )"
    little = array.astype(array.dtype.newbyteorder("<"))
    packed = base64.b64encode(zlib.compress(array_to_bytes(little))).decode()
    lines = "\n".join(packed[k : k + _WIDTH] for k in range(0, len(packed), _WIDTH))
    return f'unpack("""\n{lines}\n""")'
