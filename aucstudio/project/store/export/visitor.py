"""Visit the scorers of a model, and describe its date columns."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from aucstudio import __version__
from aucstudio.engine.scorers import Scorer, inner_scorers
from aucstudio.project.data.date_parts import WHOLE, DatePart
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
