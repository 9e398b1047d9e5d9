"""Export a model as JSON with its formula in words, and describe a model for other formats.

Symbols: x prepared row; w weights; z_l points; k kernel; a coefficients of a cubic piece.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, Generic, TypeVar

import numpy as np

from aucstudio import __version__
from aucstudio.engine.calibration import TILT, Calibration
from aucstudio.engine.ensembles.combined import CombinationScorer, ViewedScorer
from aucstudio.engine.scorers import KernelScorer, Scorer, inner_scorers
from aucstudio.project.data.date_parts import WHOLE, DatePart
from aucstudio.project.data.preparing.preparation import (
    NumberFeature,
    Preparation,
    category_features,
    number_features,
)
from aucstudio.project.data.preparing.scales import MISSING, RARE
from aucstudio.project.data.schema import bare
from aucstudio.project.data.text import dates
from aucstudio.project.errors import InputError
from aucstudio.project.runs.models.model import Model

Result = TypeVar("Result")
_WHOLE = {True: "hours of a time of day", False: "days since 1970-01-01 in UTC"}


class ScorerVisitor(Generic[Result]):
    """Writes scorers in one format: a method for each kind of scorer, named after it.

    Attributes
    ----------
    title : str
        What sentences call the format.
    """

    title: str

    def visit(self, scorer: Scorer, *given: Any) -> Result:
        """Write a scorer by the method for its kind."""
        written: Result = getattr(self, scorer.kind)(scorer, *given)
        return written

    @classmethod
    def check(cls, model: Model) -> None:
        """Refuse a model with a scorer that the format cannot hold.

        Raises
        ------
        InputError
            Names the kind of scorer.
        """
        for scorer in (model.scorer, *inner_scorers(model.scorer)):
            if not hasattr(cls, scorer.kind):
                raise InputError(
                    f"a model of {model.method} cannot be exported as {cls.title}, which cannot "
                    f"hold scorers of the kind {scorer.kind!r}: choose another format, or save "
                    "it as an AUC Studio model",
                    setting="to",
                )


def describe(model: Model) -> list[str]:
    """Describe a model in sentences for the head of a file."""
    settings = ", ".join(f"{name}={value!r}" for name, value in model.params.items())
    sentences = [
        f"Scores rows for class {model.positive!r} (against {model.negative!r}) of "
        f"{model.label!r}.",
        f"A model of AUC Studio {__version__}: method {model.method} ({settings}), trained on "
        f"{model.trained_on}.",
        f"Class {model.positive!r} is predicted where the score exceeds {model.threshold!r} "
        f"(threshold: {model.threshold_rule}).",
    ]
    if model.calibration is not None:
        sentences.append(
            f"Probabilities are by {model.calibration.kind} calibration on {model.calibrated_on}, "
            "and hold where positives are as frequent."
        )
    return sentences


def printable(text: str) -> str:
    """Escape characters that are not printable."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def date_inputs(model: Model) -> dict[str, str]:
    """Describe each number that is derived from dates."""
    known, parts = model.schema.by_name, model.preparation.parts
    found = {}
    for name in model.preparation.numbers:
        form = known[name].number if name in known else None
        if name in parts:
            found[name] = parts[name]
        elif form is not None and form.dated:
            found[name] = DatePart(name, WHOLE, form.dated == dates.CLOCK)
    return {name: _words(part) for name, part in found.items()}


def _words(part: DatePart) -> str:
    whole = _WHOLE[part.clock]
    if part.part == WHOLE:
        return f"{whole}, from the column {part.column}"
    return f"{part.words}; from the column {part.column}, {whole}, rounded to milliseconds"


FORMAT = 1

_PREPARING = (
    "A prepared row x has one number for each number column, in order, then one for each level of "
    "each category column, in order.",
    "A number becomes (cell - mean) / scale; a missing value is median before that, or "
    "stays missing if keep_gaps is true. A cell below low or above high is missing, and so is one "
    "among the numbers of missing, if a column has them.",
    "A level is 1 where the cell is that text, else 0; a missing value is the text "
    f"{MISSING!r}. In a column of numbers a cell is spelled with 15 significant digits. "
    "Texts that are listed together in same, where a column has it, count as the first of them.",
    "The row is predicted positive where its score exceeds threshold, else negative.",
    "Numbers that JSON has no word for are the texts 'inf', '-inf' and 'nan'.",
)
_RANKED = (
    "A number with knots becomes a rank instead: its height, by linear interpolation between "
    "the knots and their heights, and constant beyond the first and the last knot."
)
_COUNTED = (
    "A column of numbers with shares is a category: the cell is the share of its text first, and 0 "
    f"for other texts; a missing value is the text {MISSING!r}."
)
_REST = (
    f"In a category with rest, a text that is not one of the levels counts as the level {RARE!r}."
)
_MARKED = (
    "Last comes one number for each of the indicated columns: 1 where its cell is missing, else 0."
)
_FORMULAS = {
    "linear": ("score = intercept + sum over k of weights[k] * x[k]",),
    "kernel": (
        "score = intercept + sum over l of weights[l] * k(points[l], x)",
        "k(z, x) is sum(z * x) for kind 'linear', exp(-gamma * sum((z - x)^2)) for 'rbf', and "
        "(gamma * sum(z * x) + coef0)^degree for 'poly'",
    ),
    "fourier": (
        "score = intercept + sum over l of weights[l] * cos(sum over k of frequencies[l][k] * x[k] "
        "+ phases[l])",
    ),
    "trees": (
        "score = intercept + base + sum over roots of value[p], p the leaf that x comes to",
        "from the root, node p leads to left[p] if x[feature[p]] <= threshold[p], else to "
        "right[p]; if x[feature[p]] is missing, to left[p] where gaps_left[p] is true; a leaf "
        "leads to itself",
    ),
    "additive": (
        "score = intercept + sum over c of F_c(x[feature[c]]); F_c of a missing value is 0",
        "F_c uses the next n_breaks[c] entries of the breaks, and the next n_breaks[c] + 1 "
        "entries of the origins and of the coefficients; with q the number of its breaks "
        "below x, t = x - origins[q] and a = coefficients[q], F_c(x) = a[0] + a[1] t + a[2] "
        "t^2 + a[3] t^3",
    ),
    "combination": (
        "score = intercept + base + sum over parts of factors[k] * L(s), s the score of part k "
        "without any intercept",
        "L(s) is s where smoothings[k] is 0, else log((s + e) / (1 - s + e)) with e = "
        "smoothings[k]",
        "the kinds of the parts are in parts[k].kind, with the formulas below",
    ),
    "viewed": (
        "score = that of inner, of the row z in place of x, with z[k] = factors[k] * x[columns[k]] "
        "+ shifts[k], and z[k] = fills[k] where x[columns[k]] is missing",
    ),
}

_PROBABILITY = (
    "u = (score - centre) / scale, at most 1e100 and at least -1e100; v = sign(u) ln(1 + |u|)",
    "probability = (1 - tilt) f(u) + tilt (1 + v / (1 + |v|)) / 2, for a table in which positives "
    "are as frequent as among the rows of the calibration",
)
_MAPS = {
    "sigmoid": "z = slope u + offset; f(u) = 1 / (1 + exp(-(shift + high ln(1 + exp(z)) - low ln(1 "
    "+ exp(-z)))))",
    "steps": "f(u) is linear between the knots, where it has the values, and level beyond the "
    "outer ones",
}


def check(model: Model) -> None:
    """Refuse a model whose kind of scorer has no formula."""
    _Document.check(model)


def write_document(model: Model) -> bytes:
    """Write a model as JSON that reads back to the same numbers.

    Raises
    ------
    InputError
        If the kind of scorer has no formula here.
    """
    check(model)
    # One line for each part: readable, and quick to read where the arrays are long.
    lines = (f"{json.dumps(name)}: {_dumps(part)}" for name, part in _document(model).items())
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _document(model: Model) -> dict[str, Any]:
    facts = ("label", "positive", "negative", "trained_on", "threshold", "threshold_rule")
    return {
        "format": FORMAT,
        "program": f"AUC Studio {__version__}",
        "how": _instructions(model),
        "method": model.method,
        "params": dict(model.params),
        **{name: getattr(model, name) for name in facts},
        "preparation": _preparation(model.preparation),
        "scorer": _Document().visit(model.scorer),
        "intercept": model.intercept,
        **_calibration(model.calibration, model.calibrated_on),
    }


def _instructions(model: Model) -> list[str]:
    """Return in words how a score is computed from the numbers."""
    learnt, scorer, calibration = model.preparation, model.scorer, model.calibration
    chosen = {_RANKED: len(learnt.knots), _COUNTED: learnt.shares, _REST: learnt.rest}
    chosen[_MARKED] = learnt.indicated
    words = [*_PREPARING, *(sentence for sentence, needed in chosen.items() if needed)]
    words += [f"The cell of {name!r} is: {text}." for name, text in date_inputs(model).items()]
    words += _FORMULAS[scorer.kind]
    for kind in dict.fromkeys(inner.kind for inner in inner_scorers(scorer)):
        words += [f"{kind}: {line}" for line in _FORMULAS[kind]]
    if calibration is not None:
        words += [*_PROBABILITY, _MAPS[calibration.form]]
    return words


class _Document(ScorerVisitor[dict[str, Any]]):
    """Writes scorers as plain data: kind, settings and arrays."""

    title = "JSON"

    def _all(self, scorer: Scorer) -> dict[str, Any]:
        return {"kind": scorer.kind, **scorer.settings(), **scorer.arrays()}

    linear = fourier = trees = additive = _all

    def kernel(self, scorer: KernelScorer) -> dict[str, Any]:
        return {"kind": scorer.kind, "kernel": scorer.settings(), **scorer.arrays()}

    def combination(self, scorer: CombinationScorer) -> dict[str, Any]:
        parts = [self.visit(part.scorer) for part in scorer.parts]
        members = [dataclasses.asdict(member) for member in scorer.members]
        own = {"kind": scorer.kind, "base": scorer.base, **_own_arrays(scorer)}
        return own | {"parts": parts, "members": members}

    def viewed(self, scorer: ViewedScorer) -> dict[str, Any]:
        own = {"kind": scorer.kind, **_own_arrays(scorer)}
        return own | {"inner": self.visit(scorer.scorer)}


def _own_arrays(scorer: Scorer) -> dict[str, Any]:
    return {name: array for name, array in scorer.arrays().items() if name in scorer.layout}


def _calibration(made: Calibration | None, rows: str) -> dict[str, Any]:
    if made is None:
        return {}
    numbers = {"tilt": TILT, **made.settings(), **made.arrays()}
    return {"calibration": {"kind": made.kind, "form": made.form, "rows": rows, **numbers}}


def _preparation(learnt: Preparation) -> dict[str, Any]:
    indicated = {"indicated": list(learnt.indicated)} if learnt.indicated else {}
    return {
        "numbers": [_number(number) for number in number_features(learnt)],
        **indicated,
        "keep_gaps": learnt.keep_gaps,
        "categories": [
            {"name": one.name, "levels": list(one.levels)}
            | ({"same": one.same} if one.same else {})
            | ({"rest": True} if one.rest >= 0 else {})
            for one in category_features(learnt)
        ],
    }


def _number(number: NumberFeature) -> dict[str, Any]:
    names = ("name", "median", "mean", "scale", "low", "high")
    entry = {name: getattr(number, name) for name in names}
    if number.absent:
        entry["missing"] = number.absent
    if number.shares is not None:
        entry["shares"] = dict(number.shares)
    if number.part is not None:
        entry["part"] = bare(number.part)
    if number.curve is not None:
        entry["knots"], entry["heights"] = number.curve
    return entry


def _dumps(part: Any) -> str:
    return json.dumps(_plain(part), ensure_ascii=False, allow_nan=False)


def _plain(part: Any) -> Any:
    """Turn arrays into lists, and numbers that JSON lacks into text."""
    if isinstance(part, np.ndarray | np.generic):
        return _plain(part.tolist())
    if isinstance(part, dict):
        return {name: _plain(inner) for name, inner in part.items()}
    if isinstance(part, list | tuple):
        return [_plain(inner) for inner in part]
    if isinstance(part, float) and not math.isfinite(part):
        return str(part)
    return part
