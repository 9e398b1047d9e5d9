"""Export a model as JSON with its formula in words.

Symbols: x prepared row; w weights; z_l points; k kernel; a coefficients of a cubic piece.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np

from aucstudio import __version__
from aucstudio.engine.calibration import TILT
from aucstudio.engine.ensembles.combined import CombinationScorer
from aucstudio.engine.ensembles.remapped import ViewedScorer
from aucstudio.engine.scorers import Scorer, inner_scorers
from aucstudio.project.data.preparing.levels import MISSING, RARE
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.schema import bare
from aucstudio.project.runs.models.model import Model
from aucstudio.project.store.export.requirements import date_inputs, require_kind

FORMAT = 1

_PREPARING = (
    "A prepared row x has one number for each number column, in order, then one for each level of "
    "each category column, in order.",
    "A number becomes (cell - mean) / scale; a gap is median before that, or stays a gap if "
    "keep_gaps is true. A cell below low or above high is a gap, and so is one that is among the "
    "numbers of missing, where a column has such.",
    "A level is 1 where the cell is that text, else 0; a gap counts as the text "
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
    f"for other texts; a gap is the text {MISSING!r}."
)
_REST = (
    f"In a category with rest, a text that is not one of the levels counts as the level {RARE!r}."
)
_MARKED = (
    "Last comes one number for each of the indicated columns: 1 where its cell is a gap, else 0."
)
_SCORING = {
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
        "right[p]; if x[feature[p]] is a gap, to left[p] where gaps_left[p] is true; a leaf "
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
        "+ shifts[k], and z[k] = fills[k] where x[columns[k]] is a gap",
    ),
}

_CALIBRATING = (
    "u = (score - centre) / scale, at most 1e100 and at least -1e100; v = sign(u) ln(1 + |u|)",
    "probability = (1 - tilt) f(u) + tilt (1 + v / (1 + |v|)) / 2, for a table in which positives "
    "are as frequent as among the rows of the calibration",
)
_FORMS = {
    "sigmoid": "z = slope u + offset; f(u) = 1 / (1 + exp(-(shift + high ln(1 + exp(z)) - low ln(1 "
    "+ exp(-z)))))",
    "steps": "f(u) is linear between the knots, where it has the values, and level beyond the "
    "outer ones",
}


def check(model: Model) -> None:
    """Refuse a model whose kind of scorer has no formula."""
    require_kind(model, _SCORING, "JSON")


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
    scorer = model.scorer
    return {
        "format": FORMAT,
        "program": f"AUC Studio {__version__}",
        "how": [
            *_PREPARING,
            *_choices(model.preparation),
            *(f"The cell of {name!r} is: {words}." for name, words in date_inputs(model).items()),
            *_formulas(scorer),
            *_calibrating(model),
        ],
        "method": model.method,
        "params": dict(model.params),
        "label": model.label,
        "positive": model.positive,
        "negative": model.negative,
        "trained_on": model.trained_on,
        "threshold": model.threshold,
        "threshold_rule": model.threshold_rule,
        "preparation": _preparation(model),
        "scorer": _scorer(scorer),
        "intercept": model.intercept,
        **_calibration(model),
    }


def _formulas(scorer: Scorer) -> list[str]:
    words = list(_SCORING[scorer.kind])
    for kind in dict.fromkeys(inner.kind for inner in inner_scorers(scorer)):
        words += [f"{kind}: {line}" for line in _SCORING[kind]]
    return words


def _scorer(scorer: Scorer) -> dict[str, Any]:
    own = {name: array for name, array in scorer.arrays().items() if name in scorer.layout}
    if isinstance(scorer, ViewedScorer):
        return {"kind": scorer.kind, **own, "inner": _scorer(scorer.scorer)}
    if not isinstance(scorer, CombinationScorer):
        return {"kind": scorer.kind, **_flat(scorer.settings()), **own}
    return {
        "kind": scorer.kind,
        "base": scorer.base,
        **own,
        "parts": [_scorer(part.scorer) for part in scorer.parts],
        "members": [dataclasses.asdict(member) for member in scorer.members],
    }


def _choices(learnt: Preparation) -> list[str]:
    said = {_RANKED: len(learnt.knots), _COUNTED: learnt.shares, _REST: learnt.rest}
    said[_MARKED] = learnt.indicated
    return [sentence for sentence, needed in said.items() if needed]


def _calibrating(model: Model) -> tuple[str, ...]:
    made = model.calibration
    return () if made is None else (*_CALIBRATING, _FORMS[made.form])


def _calibration(model: Model) -> dict[str, Any]:
    made = model.calibration
    if made is None:
        return {}
    numbers = {"tilt": TILT, **made.settings(), **made.arrays()}
    about = {"kind": made.kind, "form": made.form, "rows": model.calibrated_on}
    return {"calibration": {**about, **numbers}}


def _preparation(model: Model) -> dict[str, Any]:
    learnt = model.preparation
    numbers = zip(
        learnt.numbers,
        learnt.medians,
        learnt.means,
        learnt.scales,
        learnt.lows,
        learnt.highs,
        strict=True,
    )
    return {
        "numbers": [
            {
                **{"name": name, "median": median, "mean": mean, "scale": scale},
                **{"low": low, "high": high},
                **(
                    {"missing": learnt.absent[learnt.source(name)]}
                    if learnt.source(name) in learnt.absent
                    else {}
                ),
                **({"shares": dict(learnt.shares[name])} if name in learnt.shares else {}),
                **({"part": bare(learnt.parts[name])} if name in learnt.parts else {}),
                **(
                    {"knots": learnt.knots[k], "heights": learnt.heights[k]}
                    if len(learnt.knots)
                    else {}
                ),
            }
            for k, (name, median, mean, scale, low, high) in enumerate(numbers)
        ],
        **({"indicated": list(learnt.indicated)} if learnt.indicated else {}),
        "keep_gaps": learnt.keep_gaps,
        "categories": [
            {
                **{"name": name, "levels": list(levels)},
                **({"same": learnt.same[name]} if name in learnt.same else {}),
                **({"rest": True} if name in learnt.rest else {}),
            }
            for name, levels in zip(learnt.categories, learnt.levels, strict=True)
        ],
    }


def _flat(settings: dict[str, Any]) -> dict[str, Any]:
    """Keep the kernel's kind apart from the scorer's."""
    return {"kernel": settings} if "kind" in settings else settings


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
