"""Which sheet, table or member of a file is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from aucstudio.project.data.choices import listed
from aucstudio.project.data.readers.format import Wish
from aucstudio.project.data.readers.rows import first_parts
from aucstudio.project.errors import InputError
from aucstudio.project.words import suggestion


def pick_part(
    path: Path, what: str, names: Sequence[str], wish: Wish, holds_table: Callable[[str], bool]
) -> str:
    """Choose a part of a file: the one that was named, the usual one, or the first with a table.

    Parameters
    ----------
    path : Path
    what : str
        "sheet", "table" or "member".
    names : sequence of str
        All parts.
    wish : Wish
    holds_table : callable
        Given a name, tells whether there is a table.

    Raises
    ------
    InputError
        If there is no such part, or none with a table.
    """
    if wish.part:
        if wish.part in names:
            return wish.part
        raise InputError(
            f"{path} has no {what} {wish.part!r}; it has {listed([*map(repr, names)]) or 'none'}"
            + suggestion(wish.part, names),
            file=str(path),
            setting="sheet",
        )
    if wish.usual in names:
        return wish.usual
    found = next((name for name in names if holds_table(name)), None)
    if found is None:
        raise InputError(
            f"{path} has no {what} with a table of at least two columns and a row below their "
            "names; choose another file",
            file=str(path),
        )
    return found


def note_of_parts(what: str, part: str, parts: Sequence[str]) -> list[str]:
    """Say which part was read, where there are others."""
    others = [name for name in parts if name != part]
    if not others:
        return []
    kinds = f"{what}s" if len(others) > 1 else what
    return [
        f"{what} {part!r} is read; there {'are' if len(others) > 1 else 'is'} also the {kinds} "
        f"{first_parts(others)}"
    ]
