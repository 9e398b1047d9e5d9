"""Which models a format cannot hold, and its date columns."""

from __future__ import annotations

from collections.abc import Container

from aucstudio.project.data.date_parts import WHOLE, DatePart
from aucstudio.project.data.text import dates
from aucstudio.project.errors import InputError
from aucstudio.project.runs.models.model import Model

_WHOLE = {True: "hours of a time of day", False: "days since 1970-01-01 in UTC"}


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


def require_kind(model: Model, known: Container[str], title: str) -> None:
    """Make sure that the format knows the model's kind of scorer.

    Raises
    ------
    InputError
        If it does not; the sentence names the kind.
    """
    if model.scorer.kind not in known:
        raise InputError(
            f"a model of {model.method} cannot be exported as {title}, which does not support "
            f"its kind of scorer ({model.scorer.kind!r}): save it as an AUC Studio model",
            setting="to",
        )
