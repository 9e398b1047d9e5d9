"""What an experiment file may hold: its keys and their types, checked before anything is read."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from aucstudio.project import typed
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.splitting.validation import Validation
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.errors import InputError
from aucstudio.project.runs.tuning import Tuning
from aucstudio.project.words import suggestion

_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
}
# What the values of tables with keys of their own may be.
_ALLOWED: dict[str | int, Any] = {
    "roles": str,
    "missing": list,
    "spellings": bool | list,
    "parts": list,
}
_LONGEST = 60
_LARGEST = sys.float_info.max


class DataPart(Struct, forbid_unknown_fields=True):
    """The table; what is left out is guessed."""

    file: str = ""
    label: str | None = None
    positive: str | int | float | list[str | int | float] | None = None
    merge: bool | list[list[str | int | float]] | None = None
    missing: dict[str, list[int | float]] = {}
    spellings: dict[str, bool | list[list[str]]] = {}
    parts: dict[str, list[str]] = {}
    roles: dict[str, str] = {}
    dialect: Dialect = Dialect()


class ScoresPart(Struct, forbid_unknown_fields=True):
    """A file of scores that are the one column of a run; columns that name rows are guessed."""

    file: str
    column: str
    key: str | None = None
    identifier: str | None = None


class RunPart(Struct, forbid_unknown_fields=True):
    """One run; its method knows what its settings may be."""

    method: str
    name: str = ""
    tune: str | Tuning | None = None
    settings: dict[str, bool | int | float | str | list[Any]] = {}
    roles: dict[str, str] = {}
    preparation: PreparationChoice | None = None
    scores: ScoresPart | None = None


class ExperimentDocument(Struct, forbid_unknown_fields=True):
    """The whole file."""

    format: int = 1
    title: str = ""
    about: str = ""
    views: list[str] = []
    fpr_range: list[float] | None = None
    data: DataPart = msgspec.field(default_factory=DataPart)
    validation: Validation = Validation()
    preparation: PreparationChoice = USUAL
    runs: list[RunPart] = []


def read_document(path: Path, document: Mapping[str, Any]) -> ExperimentDocument:
    """Check what TOML was read as.

    Raises
    ------
    InputError
        That names the file, the key and what there is.
    """
    _require_known(path, document)
    for steps, value in _numbers(document, []):
        if not abs(value) <= _LARGEST:
            raise InputError(
                f"{path}: {_place(steps)} must be a finite number; it is {_spelled(value)}",
                file=str(path),
                setting=str(steps[-1]),
            )
    try:
        found = typed.convert(document, ExperimentDocument)
    except msgspec.ValidationError as error:
        if isinstance(error.__cause__, InputError):  # a value that cannot be
            cause = error.__cause__
            raise InputError(f"{path}: {cause}", file=str(path), setting=cause.setting) from error
        told, _, place = str(error).partition(" - at ")
        steps = _steps(place, document)
        sentence = f"{path}: {_sentence(told, steps, document)}"
        raise InputError(sentence, file=str(path), setting=str(steps[-1])) from error
    return found


def _require_known(path: Path, document: Mapping[str, Any]) -> None:
    data, runs = document.get("data"), document.get("runs")
    parts: list[tuple[str, object, Any]] = [
        ("", document, ExperimentDocument),
        (" in [data]", data, DataPart),
        (" in [data.dialect]", data.get("dialect") if isinstance(data, dict) else None, Dialect),
        (" in [validation]", document.get("validation"), Validation),
        (" in [preparation]", document.get("preparation"), PreparationChoice),
    ]
    for run in runs if isinstance(runs, list) else []:
        parts.append((" in [[runs]]", run, RunPart))
        if isinstance(run, dict):
            parts.append((" in [runs.tune]", run.get("tune"), Tuning))
            parts.append((" in [runs.preparation]", run.get("preparation"), PreparationChoice))
    for where, part, kind in parts:
        known = list(kind.__annotations__)
        for key in part if isinstance(part, dict) else ():
            if key not in known:
                raise InputError(
                    f"{path}: unknown key {_spelled(key)}{where}{suggestion(str(key), known)} "
                    f"(there are {', '.join(sorted(known))})",
                    file=str(path),
                    setting=key,
                )


def _steps(place: str, document: Any) -> list[str | int]:
    """Read a place such as ``$.runs[0].roles[...]``, and find out which key ``...`` is."""
    steps: list[str | int] = []
    for key, index in re.findall(r"\.(\w+)|\[(\d+|\.\.\.)\]", place):
        if index == "...":
            allowed = _ALLOWED.get(steps[-1], bool | int | float | str | list)
            wrong = [name for name, v in document.items() if not isinstance(v, allowed)]
            if not wrong:  # it lies deeper, in one of the lists
                break
            steps.append(wrong[0])
        else:
            steps.append(key or int(index))
        document = document[steps[-1]]
    return steps


def _sentence(told: str, steps: list[str | int], document: Any) -> str:
    """State in our words what msgspec says."""
    if missing := re.search(r"required field `(\w+)`", told):
        return f"{_table(steps)} needs a {missing[1]}"
    wanted = re.search(r"Expected `(.*)`, got", told)
    if wanted is None:
        return f"{_place(steps)} is {'too large a number' if 'range' in told else 'not valid'}"
    value = document
    for step in steps:
        value = value[step]
    kinds = [_WORDS[kind] for kind in wanted[1].split(" | ") if kind in _WORDS]
    return f"{_place(steps)} must be {' or '.join(kinds)}; it is {_spelled(value)}"


def _place(steps: list[str | int]) -> str:
    """Name a key: ``'folds' in [validation]``."""
    if isinstance(steps[-1], int) and len(steps) > 1 and steps[0] != "runs":
        return f"each of {_place(steps[:-1])}"
    if len(steps) == 1 or steps[-1] == "runs":
        return repr(steps[-1])
    if steps[0] == "runs" and len(steps) == 2:
        return _table(steps)
    return f"{steps[-1]!r} in {_table(steps[:-1])}"


def _table(steps: list[str | int]) -> str:
    name = ".".join(str(step) for step in steps if isinstance(step, str))
    if steps[0] == "runs":
        return f"[[{name}]]" + (f" number {steps[1] + 1}" if isinstance(steps[1], int) else "")
    return f"[{name}]"


def _spelled(value: object) -> str:
    for kind, words in ((dict, "a table"), (list, "a list")):
        if isinstance(value, kind):
            return words
    if isinstance(value, int) and abs(value) > _LARGEST:
        return "a number of many digits"
    text = repr(value) if isinstance(value, str) else str(value)
    if isinstance(value, bool):
        text = text.lower()
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _numbers(value: Any, steps: list[str | int]) -> Iterator[tuple[list[str | int], float]]:
    """Return every number, and where it is."""
    if isinstance(value, int | float):
        yield steps, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, [*steps, key])
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _numbers(item, [*steps, index])
