"""Declared command-line options, their value checks, and the shared options."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, TypeVar

from aucstudio.project.errors import InputError, input_error

Value = TypeVar("Value")

PROJECT = "a project (*.aucproj)"
MODEL = "a saved model (*.aucmodel)"
SAVE_MODEL = {"--save-model FILE": "write the model (*.aucmodel)"}

JSON = {"--json": "print one JSON document"}
CLUSTER = {
    "--cluster ADDRESS": "send the work to a Dask scheduler that you trust (tcp://host:8786)"
}
STREAM = {
    "--stream": "leave the table on disk and read it in blocks (auc-rls, rank-svm, nbauc, "
    "nsauc); automatic if it does not fit into memory",
    "--block-size SIZE": "as --stream, with blocks of this size (default 64M)",
}


_TYPES: dict[str, Callable[[str], object]] = {"str": str, "int": int, "float": float}


def add(
    parser: argparse._ActionsContainer, options: Mapping[str, str], *also: str, **how: Any
) -> None:
    """Declare options as their help shows them.

    Parameters
    ----------
    parser : ArgumentParser or group of one
    options : mapping of str to str
        Help by spelling: ``"--label COL"`` takes a value, ``"--ignore COL*"`` may be repeated,
        ``"--json"`` is a switch, ``"data DATA"`` is an argument by its place. A type and a default
        may follow: ``"--seed N int 0"``.
    also : str
        Other names of the option.
    how
        Passed on to ``add_argument``.
    """
    for spelled, words in options.items():
        name, *value = spelled.split()
        given: dict[str, Any] = {}
        if value:
            given["metavar"] = value[0].removesuffix("*")
            given |= {"action": "append", "default": []} if value[0].endswith("*") else {}
            given |= {"type": _TYPES[value[1]]} if value[1:] else {}
            given |= {"default": value[2]} if value[2:] else {}
        elif "nargs" not in how:
            given["action"] = "store_true"
        parser.add_argument(*also, name, help=words, **{**given, **how})


def file_or_none(text: str) -> str | None:
    """Return the file to write results to; - is where they go without one."""
    return None if text == "-" else text


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return what reads a whole number within bounds."""
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"

    def read(text: str) -> int:
        if not text.isdigit() or not least <= int(text) <= (int(text) if most is None else most):
            raise argparse.ArgumentTypeError(f"must be a whole number {bounds}; it is {text!r}")
        return int(text)

    return read


def minutes(text: str) -> float:
    """Read a time limit."""
    try:
        found = float(text)
    except ValueError:
        found = float("nan")
    if not 0.0 < found < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number greater than 0; it is {text!r}")
    return found


def by_column(
    given: Collection[str],
    option: str,
    example: str,
    read: Callable[[str], Value],
) -> Iterator[tuple[str, Value]]:
    """Read ``COL=VALUE`` of a repeatable option; yield column and value.

    Raises
    ------
    InputError
        If one has no column, or ``read`` raises ValueError; ``example`` describes what is accepted.
    """
    for text in given:
        column, _, value = text.rpartition("=")
        try:
            found = read(value)
        except ValueError:
            column = ""
        if not column:
            raise InputError(f"--{option} takes {example}; it is {text!r}", setting=option)
        yield column, found


def read_band(text: str) -> tuple[float, float]:
    """Read a range of false-positive rates."""
    try:
        alpha, beta = (float(part) for part in text.split(","))
    except ValueError:
        raise input_error("no_band", text=text) from None
    return alpha, beta


def check_together(
    options: argparse.Namespace,
    needs: Mapping[str, str],
    excludes: Collection[tuple[str, str, str]],
) -> None:
    """Refuse options without those that they need, and with those that they exclude.

    Parameters
    ----------
    options : Namespace
    needs : mapping of option to option
    excludes : collection of (option, option, reason)

    Raises
    ------
    InputError
    """

    def given(name: str) -> bool:
        value = getattr(options, name)
        return value is not None and value is not False and value != []

    for name, needed in needs.items():
        wrong = given(name) and not given(needed)
        refuse(wrong, f"{_spelled(name)} needs {_spelled(needed)}: add it", name)
    for name, other, reason in excludes:
        wrong = given(name) and given(other)
        why = f"{_spelled(name)} cannot be combined with {_spelled(other)}: {reason}"
        refuse(wrong, why, name)


def _spelled(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def refuse(wrong: object, sentence: str, setting: str) -> None:
    """Raise InputError if options do not go together.

    Raises
    ------
    InputError
    """
    if wrong:
        raise InputError(sentence, setting=setting)
