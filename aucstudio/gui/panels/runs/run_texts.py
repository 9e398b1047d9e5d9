"""Texts of a run in the list: method, settings, validation."""

from __future__ import annotations

import dataclasses
import datetime
from pathlib import PurePath
from weakref import WeakKeyDictionary

from aucstudio.engine import METHODS
from aucstudio.notices.words import percent_words, range_words
from aucstudio.project.data.splitting.validation import (
    FILE,
    FOLDS,
    FORWARD,
    LEAVE_PAIR_OUT,
    Validation,
)
from aucstudio.project.results.summary import caution_words, trained_for
from aucstudio.project.runs.experiments.settings_shown import differing_settings, settings_sentence
from aucstudio.project.runs.record import RunRecord

DEFAULTS = "defaults"


@dataclasses.dataclass(frozen=True)
class Facts:
    """How a run was made, in words.

    Attributes
    ----------
    method, scheme, settings, range, table, day : str
        ``settings`` are those that differ from the defaults.
    created : datetime or None
    caution : str
        Warning about its result in a few words; mostly empty.
    text : str
        All of these and every setting in lower case, for the search.
    """

    method: str
    scheme: str
    settings: str
    range: str
    table: str
    day: str
    created: datetime.datetime | None
    caution: str
    text: str


_known: WeakKeyDictionary[RunRecord, Facts] = WeakKeyDictionary()


def facts_of(record: RunRecord) -> Facts:
    """Return the facts of a run."""
    found = _known.get(record)
    if found is None:
        found = _known[record] = _find(record)
    return found


def known_facts(record: RunRecord) -> Facts | None:
    """Return the facts of a run if they are cached."""
    return _known.get(record)


def _find(record: RunRecord) -> Facts:
    experiment, trained = record.experiment, trained_for(record)
    created = _moment(record.created)
    texts = {
        "method": METHODS[experiment.method].title,
        "scheme": scheme_words(experiment.validation),
        "settings": differing_settings(record) or DEFAULTS,
        "range": "" if trained is None else range_words(trained),
        "table": PurePath(experiment.data.path).name,
        "day": "" if created is None else f"{created:%Y-%m-%d %H:%M}",
        "caution": caution_words(record),
    }
    every = (*texts.values(), settings_sentence(experiment), experiment.method, record.status)
    text = "\n".join(every).replace("\N{NO-BREAK SPACE}", " ").casefold()
    return Facts(**texts, created=created, text=text)


def scheme_words(validation: Validation) -> str:
    """Describe how rows were held out."""
    if validation.scheme == LEAVE_PAIR_OUT:
        return "leave-pair-out"
    if validation.scheme == FILE:
        return f"test file {PurePath(validation.test_file).name}"
    if validation.scheme == FORWARD:
        return f"{validation.folds} steps forward by {validation.time}"
    times = f" × {validation.repeats}" if validation.repeats > 1 else ""
    if validation.scheme == FOLDS:
        return f"{validation.folds} folds{times}"
    return f"hold-out {percent_words(validation.test_size)}{times}"


def _moment(text: str) -> datetime.datetime | None:
    try:
        return datetime.datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError):
        return None  # written by another program
