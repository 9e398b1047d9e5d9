"""A file that is hard to read, and its content."""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Case:
    """A file and its content.

    Attributes
    ----------
    name : str
    awkward : str
        What makes it hard to read.
    content : bytes
    columns : dict of str to list
        Values in order; None where missing. Numbers for columns of numbers, else texts.
    notes : tuple of str
        Regular expressions that sentences match.
    rejected : tuple of int
        Lines of rows that are left out.
    given : dict
        The parts of the dialect that a person sets.
    label : str or None
        The label that is guessed; None where that is not asked.
    encoding, roles
        Likewise.
    """

    name: str
    awkward: str
    content: bytes
    columns: dict[str, list[Any]]
    notes: tuple[str, ...] = ()
    rejected: tuple[int, ...] = ()
    given: dict[str, Any] = dataclasses.field(default_factory=dict)
    label: str | None = None
    encoding: str | None = None
    roles: dict[str, str] = dataclasses.field(default_factory=dict)


def case(name, awkward, text, columns, encoding="utf-8", **more):
    content = text if isinstance(text, bytes) else text.encode(encoding)
    more = {k: (v,) if k == "notes" and isinstance(v, str) else v for k, v in more.items()}
    return Case(name, awkward, content, columns, **more)


X, Y = [1.5, 2.5, 3.5, 4.5], ["u", "v", "u", "v"]


def xy(x=("1.5", "2.5", "3.5", "4.5"), delimiter=",", header="x,y", y=("u", "v", "u", "v")):
    """Write a table of two columns."""
    lines = [header.replace(",", delimiter)]
    lines += [f"{a}{delimiter}{b}" for a, b in zip(x, y * (len(x) // len(y) + 1), strict=False)]
    return "\n".join(lines) + "\n"
