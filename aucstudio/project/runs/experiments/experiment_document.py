"""Keys and types of an experiment file."""

from __future__ import annotations

import functools
import sys
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from aucstudio.notices.words import suggestion
from aucstudio.project import typed
from aucstudio.project.data.preparing.preparation_choice import USUAL, PreparationChoice
from aucstudio.project.data.splitting.validation import Validation, scheme_of
from aucstudio.project.data.text.dialect import Dialect
from aucstudio.project.errors import InputError
from aucstudio.project.runs.tuning import Tuning

Steps = tuple[str | int, ...]

_WORDS: dict[Any, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    tuple: "a list",
}
_LONGEST = 60
_LARGEST = sys.float_info.max


class DataPart(Struct, forbid_unknown_fields=True):
    """The table; what is absent is guessed."""

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
    """A file of scores, which are the only column of a run; row identifiers are guessed."""

    file: str
    column: str
    key: str | None = None
    identifier: str | None = None


class RunPart(Struct, forbid_unknown_fields=True):
    """One run; its method checks the settings."""

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
    """Check parsed TOML, and fill in what follows from other keys.

    Raises
    ------
    InputError
        With the file, the key and its value.
    """
    try:
        complete = _filled_in(document)
        _check(complete, ExperimentDocument, ())
        return typed.convert(complete, ExperimentDocument)
    except InputError as error:
        raise InputError(f"{path}: {error}", file=str(path), setting=error.setting) from error
    except msgspec.ValidationError as error:
        cause = error.__cause__ if isinstance(error.__cause__, InputError) else None
        setting = None if cause is None else cause.setting  # a value that cannot be
        raise InputError(f"{path}: {cause or error}", file=str(path), setting=setting) from error


def _filled_in(document: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: value for key, value in document.items() if value is not None}
    validation, runs = found.get("validation", {}), found.get("runs")
    if isinstance(validation, dict):
        if "scheme" not in validation:
            given = [key for key, value in validation.items() if value]
            found["validation"] = {"scheme": scheme_of(given), **validation}
        if isinstance(runs, list):
            # The seed of the splits is the default seed of searches.
            seed = {"seed": validation["seed"]} if "seed" in validation else {}
            found["runs"] = [_with_seed(run, seed) for run in runs]
    return found


def _with_seed(run: Any, seed: Mapping[str, Any]) -> Any:
    if not isinstance(run, dict) or not isinstance(run.get("tune"), str | dict):
        return run
    tune = {"metric": run["tune"]} if isinstance(run["tune"], str) else run["tune"]
    return {**run, "tune": {**seed, **tune}}


def _check(value: Any, kind: Any, steps: Steps) -> None:
    """Refuse a value that is not of a type, with all that it contains."""
    kinds = typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if isinstance(value, int | float) and not abs(value) <= _LARGEST:
        raise _wrong(f"{_place(steps)} must be a finite number; it is {_spelled(value)}", steps)
    for one in kinds:
        plain, inner = typing.get_origin(one) or one, typing.get_args(one)
        if isinstance(value, dict) and hasattr(one, "__annotations__"):
            return _check_keys(value, one, steps)
        if (isinstance(value, dict) and plain is dict) or (
            isinstance(value, list) and plain in (list, tuple)
        ):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, item in items:
                _check(item, inner[plain is dict], (*steps, key))
            return None
        if one is Any or type(value) is one or (one is float and type(value) is int):
            return None
    allowed = [typing.get_origin(one) or one for one in kinds if one is not types.NoneType]
    words = dict.fromkeys(_WORDS.get(one, "a table") for one in allowed)
    raise _wrong(f"{_place(steps)} must be {' or '.join(words)}; it is {_spelled(value)}", steps)


def _check_keys(table: dict[str, Any], kind: Any, steps: Steps) -> None:
    known = _annotations(kind)
    for key, value in table.items():
        if key not in known:
            where = f" in {_table(steps).partition(' number')[0]}" if steps else ""
            raise _wrong(
                f"unknown key {_spelled(key)}{where}{suggestion(key, known)} (there are "
                f"{', '.join(sorted(known))})",
                (key,),
            )
        _check(value, known[key], (*steps, key))
    fields = msgspec.structs.fields(kind) if issubclass(kind, Struct) else ()
    for field in fields:
        if field.required and field.name not in table:
            raise _wrong(f"{_table(steps)} needs a {field.name}", (field.name,))


@functools.cache
def _annotations(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _wrong(sentence: str, steps: Steps) -> InputError:
    return InputError(sentence, setting=str(steps[-1]))


def _place(steps: Steps) -> str:
    """Name a key: ``'folds' in [validation]``."""
    if isinstance(steps[-1], int) and len(steps) > 1 and steps[0] != "runs":
        return f"each of {_place(steps[:-1])}"
    if len(steps) == 1 or steps[-1] == "runs":
        return repr(steps[-1])
    if steps[0] == "runs" and len(steps) == 2:
        return _table(steps)
    return f"{steps[-1]!r} in {_table(steps[:-1])}"


def _table(steps: Steps) -> str:
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
