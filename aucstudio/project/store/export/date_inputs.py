"""What a model needs of columns of dates, in words for whoever prepares its rows."""

from __future__ import annotations

from aucstudio.project.data.date_parts import WHOLE, DatePart
from aucstudio.project.data.text import dates
from aucstudio.project.runs.models.model import Model

_WHOLE = {True: "hours of a time of day", False: "days since 1970-01-01 in UTC"}


def date_inputs(model: Model) -> dict[str, str]:
    """Give by number what it is, where it comes from dates."""
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
