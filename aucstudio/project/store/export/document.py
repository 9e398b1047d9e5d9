"""Export a model as JSON with its formula in words, and describe a model for other formats."""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
from typing import Any, Generic, TypeVar

import numpy as np

from aucstudio import __version__
from aucstudio.engine.calibration import TILT
from aucstudio.engine.ensembles.combined import CombinationScorer
from aucstudio.engine.ensembles.views import ViewedScorer
from aucstudio.engine.scorers import KernelScorer, Scorer, inner_scorers
from aucstudio.notices import text
from aucstudio.project.data.preparing.preparation import (
    CategoryFeatures,
    NumberFeature,
    category_features,
    number_features,
)
from aucstudio.project.data.preparing.scales import MAX_LEVELS
from aucstudio.project.data.schema import bare
from aucstudio.project.data.text import dates
from aucstudio.project.data.text.dates import WHOLE, DatePart
from aucstudio.project.data.text.dialect import BLANK, Dialect
from aucstudio.project.data.text.numerals import FOREIGN_DIGITS, OWN_DIGITS, NumberFormat
from aucstudio.project.errors import input_error
from aucstudio.project.resources import resource_path
from aucstudio.project.runs.model import Model

FORMAT = 1
FACTS = ("label", "positive", "negative", "trained_on", "threshold", "threshold_rule")
Result = TypeVar("Result")


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
                raise input_error(
                    "export_unable", method=model.method, format=cls.title, kind=scorer.kind
                )


# ----------------------------------------------------------------- words


def describe(model: Model) -> list[str]:
    """Describe a model in sentences for the head of a file."""
    settings = ", ".join(f"{name}={value!r}" for name, value in model.params.items())
    facts = {name: getattr(model, name) for name in ("method", *FACTS)}
    sentences = text("model_head", program=__version__, settings=settings, **facts).splitlines()
    if made := model.calibration:
        sentences.append(text("model_head_calibrated", kind=made.kind, rows=model.calibrated_on))
    return sentences


def printable(written: str) -> str:
    """Escape characters that are not printable."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in written)


def special_inputs(model: Model) -> dict[str, str]:
    """Describe each number that is derived from dates, or from values beyond a limit."""
    known, parts = model.schema.by_name, model.preparation.parts
    found, limits = {}, {}
    for name in model.preparation.numbers:
        form = known[name].number if name in known else None
        if way := form.limits if form is not None else (model.schema.dialect or Dialect()).limits:
            limits[name] = text("limit_input", way=way)
        if name in parts:
            found[name] = parts[name]
        elif form is not None and form.dated:
            found[name] = DatePart(name, WHOLE, form.dated == dates.CLOCK)
    return limits | {
        name: text("date_whole", column=part.column, clock=part.clock)
        if part.part == WHOLE
        else text("date_part", part=part.words, column=part.column, clock=part.clock)
        for name, part in found.items()
    }


# ----------------------------------------------------------------- the document


def check(model: Model) -> None:
    """Refuse a model whose kind of scorer has no formula."""
    _Writer.check(model)


def write(model: Model) -> bytes:
    """Write a model as JSON that reads back to the same numbers.

    Raises
    ------
    InputError
        If the kind of scorer has no formula here.
    """
    check(model)
    # One line for each part: readable, and quick to read where the arrays are long.
    parts = {"how": _instructions(model), **document_of(model)}
    lines = (
        f"{json.dumps(name)}: {json.dumps(_plain(part), ensure_ascii=False, allow_nan=False)}"
        for name, part in parts.items()
    )
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def document_of(model: Model) -> dict[str, Any]:
    """Return all that a model's scores are computed from; arrays are not converted."""
    dialect = model.schema.dialect or Dialect()
    document = {
        "format": FORMAT,
        "program": f"AUC Studio {__version__}",
        "method": model.method,
        "params": dict(model.params),
        **{name: getattr(model, name) for name in FACTS},
        # The format of the training table, the default for tables to score.
        "table": {
            "encoding": dialect.encoding,
            # Runs of blanks are no delimiter of Python's csv.
            "delimiter": dialect.delimiter.replace(BLANK, ""),
            "decimal": dialect.decimal,
        },
        "preparation": _preparation(model),
        "scorer": _Writer().visit(model.scorer),
        "intercept": model.intercept,
    }
    if made := model.calibration:
        numbers = {"tilt": TILT, **made.settings(), **made.arrays()}
        facts = {"kind": made.kind, "form": made.form, "rows": model.calibrated_on}
        document["calibration"] = facts | numbers
    return document


def _instructions(model: Model) -> list[str]:
    """Return in words how a score is computed from the numbers."""
    formulas = tomllib.loads(resource_path("export", "formulas.toml").read_text("utf-8"))
    learnt, scorer = model.preparation, model.scorer
    chosen = {"ranked": len(learnt.knots), "shares": learnt.shares, "rest": learnt.rest}
    chosen |= {"indicated": learnt.indicated, "reading": _readings(model)}
    words = [*formulas["preparing"], *(formulas[name] for name, used in chosen.items() if used)]
    words += [f"The cell of {name!r} is: {part}." for name, part in special_inputs(model).items()]
    words += formulas["scorers"][scorer.kind]
    for kind in dict.fromkeys(inner.kind for inner in inner_scorers(scorer)):
        words += [f"{kind}: {line}" for line in formulas["scorers"][kind]]
    if model.calibration is not None:
        words += [*formulas["probability"], formulas["maps"][model.calibration.form]]
    return words


class _Writer(ScorerVisitor[dict[str, Any]]):
    """Writes scorers as plain data: kind, settings and arrays."""

    title = "JSON or a Python script"

    def _all(self, scorer: Scorer) -> dict[str, Any]:
        return {"kind": scorer.kind, **scorer.settings(), **scorer.arrays()}

    linear = fourier = trees = additive = _all

    def kernel(self, scorer: KernelScorer) -> dict[str, Any]:
        return {"kind": scorer.kind, "kernel": scorer.settings(), **scorer.arrays()}

    def combination(self, scorer: CombinationScorer) -> dict[str, Any]:
        parts = [self.visit(part.scorer) for part in scorer.parts]
        members = [dataclasses.asdict(member) for member in scorer.members]
        return {"base": scorer.base, **_own(scorer), "parts": parts, "members": members}

    def viewed(self, scorer: ViewedScorer) -> dict[str, Any]:
        return _own(scorer) | {"inner": self.visit(scorer.scorer)}


def _own(scorer: Scorer) -> dict[str, Any]:
    """Return the kind of a scorer and its arrays without those of inner scorers."""
    own = {name: array for name, array in scorer.arrays().items() if name in scorer.layout}
    return {"kind": scorer.kind, **own}


def _preparation(model: Model) -> dict[str, Any]:
    learnt, dialect = model.preparation, model.schema.dialect or Dialect()
    found = {
        "numbers": [_number(number) for number in number_features(learnt)],
        "indicated": list(learnt.indicated),
        "keep_gaps": learnt.keep_gaps,
        "categories": [
            {"name": one.name, "levels": one.levels}
            | _other_levels(model, one)
            | _filled(same=one.same, rest=one.rest >= 0)
            for one in category_features(learnt)
        ],
        "gaps": {"text": sorted(dialect.text_words), "number": sorted(dialect.number_words)},
    }
    if readings := _readings(model):
        found["reading"], found["digits"] = readings, [FOREIGN_DIGITS, OWN_DIGITS]
    return found


def _other_levels(model: Model, category: CategoryFeatures) -> dict[str, list[str]]:
    """Return the entry of the training's levels without a number; none if they are not known."""
    known = model.schema.by_name.get(category.name)
    levels = known and known.levels
    if levels is None and (category.rest >= 0 or len(category.levels) == MAX_LEVELS):
        return {}
    return {"others": [level for level in levels or () if level not in category.levels]}


def _number(number: NumberFeature) -> dict[str, Any]:
    names = ("name", "median", "mean", "scale", "unit", "low", "high")
    entry = {name: getattr(number, name) for name in names}
    knots, heights = number.curve or ((), ())
    shares = None if number.shares is None else dict(number.shares)
    part = None if number.part is None else bare(number.part)
    optional = {"missing": number.absent, "shares": shares, "part": part}
    return entry | _filled(**optional, knots=knots, heights=heights)


def _filled(**entries: Any) -> dict[str, Any]:
    """Return the entries that have a value."""
    return {
        name: value
        for name, value in entries.items()
        if value is not None and value is not False and (value is True or len(value))
    }


def _readings(model: Model) -> dict[str, Any]:
    """Return how numbers and dates of columns are read that are not plain numbers."""
    known = model.schema.by_name
    forms = {name: known[name].number for name in model.preparation.columns if name in known}
    odd = {n: form for n, form in forms.items() if form and form != NumberFormat(form.decimal)}
    return {name: _reading(form) for name, form in odd.items()}


def _reading(form: NumberFormat) -> dict[str, Any]:
    if form.layout:
        return {"ways": [dates.pattern(way) for way in dates.ways_of(form.layout)]}
    written = {"pattern": form.pattern, "decimal": form.decimal, "marks": form.marks}
    return written | _filled(limits=form.limits)


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
