"""Remove wrappers of other programs: quotes, bars, guards against Excel.

Such a file is written again line by line, so that lines keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from aucstudio.project.data.text.container_lines import (
    find_folded,
    find_keyed,
    find_labelled,
    find_pages,
)
from aucstudio.project.data.text.container_markup import Rewrite, find_markup
from aucstudio.project.data.text.dialect import DELIMITERS
from aucstudio.project.data.text.numerals import BLANKS

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_RULE = re.compile(r"[ \t|+:=-]*(?:---|===)[ \t|+:=-]*")
# ="00123" keeps Excel from reading a number; exports that quote all cells double the marks.
_GUARDED = re.compile(r'(?:(?<=[,;\t])|^)(?:="([^"\n]*)"|"=""([^"\n]*)""")(?=[,;\t\r\n]|$)', re.M)
_LOOKED_AT, _TITLES = 200, 10
_BARRED = re.compile(r"\|.*\|.*\|")
# What is drawn with characters for boxes.
_BOX_RULE = re.compile("[ \u2500-\u257f]*[\u2500\u2501\u2550\u254c\u254d]{3}[ \u2500-\u257f]*")
_BOX_BAR = re.compile("[\u2502\u2503\u2506\u250a\u2551]")
# What Stata lists: numbers of rows stand before the frame.
_FRAME, _FRAMED = re.compile(r"[|+](?:-{3,}[|+])+"), re.compile(r"(?:[0-9]+\. +)?\|([^|]+)\|")
# An apostrophe before a cell has Excel take it for text; one behind it makes a quotation of it.
_TEXTED = re.compile(r"(?:(?<=[,;\t])|^)'(?=[0-9+-])(?=[^',;\t\r\n]*(?:[,;\t\r\n]|$))", re.M)
_CLOSED = re.compile(r"'(?=[,;\t\r\n]|$)", re.M)
# The logs of web servers put times so, between cells that others quote.
_BRACKETED = re.compile(r'(?<= )\[([^\[\]" ]{1,40}(?: [^\[\]" ]{1,40}){1,4})\](?= ")')
# Of commas and tabs it is more likely that a column between two is empty.
_DOUBLED = ("||", ";;", "::", "~~")
# What letters and books put around words, and around cells that hold delimiters.
_BOOKISH = re.compile(
    "(?:(?<=[,;\t|])|^) ?"
    "(?:\u201c([^\u201c\u201d\n]*)\u201d|\u201e([^\u201c-\u201e\n]*)[\u201c\u201d]|"
    "\u00ab([^\u00ab\u00bb\n]*)\u00bb)(?= ?[,;\t|\r\n]| ?$)",
    re.M,
)


def unwrapped(path: Path, text: str, folder: Path) -> tuple[Path, *tuple[str, ...]]:
    """Write a UTF-8 file again without what wraps its lines, judging by the first of these.

    Returns
    -------
    Path
        The file itself where nothing wraps its lines.
    str
        What a person should know about it, if anything.
    """
    if (found := _find_wrapping(text)) is None:
        return (path,)
    unwrap, told = found
    target = folder / "unwrapped.csv"
    with target.open("w", encoding="utf-8", newline="\n") as copy:
        copy.writelines(unwrap(_Lines(path)))
    return target, *filter(None, [told])


def _find_wrapping(text: str) -> tuple[Rewrite, str] | None:
    """Find how the first lines of a file are wrapped: what undoes it, and a sentence about it."""
    lines = [line.strip() for line in text.split("\n")[:_LOOKED_AT] if line.strip(BLANKS)]
    for find in (find_markup, find_keyed, find_labelled, find_folded):
        if marked := find(lines):
            return marked
    if "\f" in text and (paged := find_pages(text)):
        return paged
    found = _wrapping_of_lines(text, lines)
    return found and (_each(found[0]), found[1])


def _each(unwrap: Callable[[str], str]) -> Rewrite:
    return lambda lines: map(unwrap, lines)


def _wrapping_of_lines(text: str, lines: list[str]) -> tuple[Callable[[str], str], str] | None:
    if len(lines) > 1 and all(map(_QUOTED.fullmatch, lines)):
        inner = [_without_quotes(line) for line in lines]
        if any(all(mark in line for line in inner) for mark in DELIMITERS):
            return _without_quotes, "each whole line was in quotation marks"
    if len(lines) > 1 and all(line.startswith(">") for line in lines):
        return _without_answer, "each line began with >, as in a quoted e-mail"
    if any(map(_BOX_RULE.fullmatch, lines)) and any(map(_BOX_BAR.search, lines)):
        # One bar parts the numbers of rows from cells that blanks part.
        is_beside = {len(_BOX_BAR.findall(line)) for line in lines} <= {0, 1}
        return (_without_bar if is_beside else _without_box), "the table was drawn in a box"
    if _are_framed(lines):
        return _without_frame, "a frame with row numbers around the table was left out"
    return _bars(lines) or _wrapping_of_cells(text, lines)


def _bars(lines: list[str]) -> tuple[Callable[[str], str], str] | None:
    """Find bars around all lines except rules and the lines above."""
    barred = [line for line in lines if not _RULE.fullmatch(line)]
    # A report has its titles above.
    above = next((k for k, line in enumerate(barred[:_TITLES]) if _BARRED.fullmatch(line)), 0)
    barred = barred[above:]
    is_barred = [line[:1] == line[-1:] == "|" and line.count("|") > 2 for line in barred]
    if len(barred) > 1 and sum(is_barred) >= max(2, len(barred) - 1):
        is_jira = barred[0].startswith("||") and barred[0].endswith("||")
        return (_without_doubled_bars if is_jira else _without_bars), ""
    return None


def _wrapping_of_cells(text: str, lines: list[str]) -> tuple[Callable[[str], str], str] | None:
    if mark := next((mark for mark in _DOUBLED if _is_doubled(lines, mark)), ""):
        told = f"delimiters are doubled: {mark!r} is read as {mark[0]!r}"
        return lambda line: line.replace(mark, mark[0]), told
    if lines and (marks := _other_mark(lines)):
        mark, other = marks
        told = f"the names are separated by {mark!r}, the rows by {other!r}"
        names = lines[0]
        return lambda line: line.replace(mark, other) if line.strip() == names else line, told
    if '="' in text and _GUARDED.search(text):
        return lambda line: _GUARDED.sub(r'"\1\2"', line), 'cells were guarded as ="..."'
    if lines and all(len(_BRACKETED.findall(line)) == 1 for line in lines):
        told = "cells in square brackets are read as quoted"
        return lambda line: _BRACKETED.sub(r'"\1"', line, count=1), told
    if _TEXTED.search(text) and not _CLOSED.search(text):
        told = "cells began with an apostrophe, as in Excel"
        return lambda line: _TEXTED.sub("", line), told
    if any(_holds_mark(found) for line in lines for found in _BOOKISH.finditer(line)):
        return _with_plain_quotes, "cells were in typographic quotation marks"
    return None


class _Lines:
    """The lines of a file, which may be walked over again."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[str]:
        with self._path.open(encoding="utf-8-sig", newline="\n") as file:
            yield from file


def _without_quotes(line: str) -> str:
    bare = line.rstrip("\r\n")
    if not _QUOTED.fullmatch(bare):
        return line
    return bare[1:-1].replace('""', '"') + line[len(bare) :]


def _are_framed(lines: list[str]) -> bool:
    """Return whether all lines between the first and the last ruler are framed."""
    rulers = [k for k, line in enumerate(lines) if _FRAME.fullmatch(line)]
    inside = lines[rulers[0] : rulers[-1]] if rulers else []
    framed = [line for line in inside if not _FRAME.fullmatch(line)]
    return len(framed) > 1 and rulers[0] <= _TITLES and all(map(_FRAMED.fullmatch, framed))


def _without_bar(line: str) -> str:
    return _BOX_BAR.sub(" ", line) if _BOX_BAR.search(line) else "\n"


def _without_box(line: str) -> str:
    bare = line.strip()
    return "\n" if _BOX_RULE.fullmatch(bare) else _without_bars(_BOX_BAR.sub("|", line))


def _without_frame(line: str) -> str:
    found = _FRAMED.fullmatch(line.strip())
    return "\n" if found is None else found[1] + "\n"


def _without_answer(line: str) -> str:
    return line.lstrip(" ").removeprefix(">").removeprefix(" ")


def _without_bars(line: str) -> str:
    bare = line.strip()
    if _RULE.fullmatch(bare):
        return "\n"
    is_row = bare[:1] == bare[-1:] == "|" and len(bare) > 1
    return bare[1:-1] + "\n" if is_row else line


def _without_doubled_bars(line: str) -> str:
    return _without_bars(line.replace("||", "|"))


def _is_doubled(lines: list[str], mark: str) -> bool:
    """Return whether delimiters are always doubled, equally often in all lines."""
    counts = {line.count(mark) for line in lines}
    return (
        len(lines) > 2
        and len(counts) == 1
        and counts != {0}
        and all(line.count(mark[0]) == 2 * line.count(mark) for line in lines)
    )


def _bookish(found: re.Match[str]) -> str:
    """Return the text between typographic quotation marks."""
    return next(inner for inner in found.groups() if inner is not None)


def _holds_mark(found: re.Match[str]) -> bool:
    return any(mark in _bookish(found) for mark in DELIMITERS)


def _with_plain_quotes(line: str) -> str:
    return _BOOKISH.sub(lambda found: '"' + _bookish(found).replace('"', '""') + '"', line)


def _other_mark(lines: list[str]) -> tuple[str, str] | None:
    """Find the delimiter of the first line where it differs from that of all rows; and theirs."""
    first, rows = lines[0], lines[1:]
    for mark in DELIMITERS:
        cells = first.count(mark)
        for other in DELIMITERS.replace(mark, ""):
            if cells and other not in first and _are_cut(rows, other, mark, cells):
                return mark, other
    return None


def _are_cut(rows: list[str], mark: str, other: str, times: int) -> bool:
    return bool(rows) and all(row.count(mark) == times and other not in row for row in rows)
