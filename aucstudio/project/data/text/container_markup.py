"""Tables in wiki, AsciiDoc and LaTeX markup.

A row is written in the line where it begins, so that lines keep their numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Row = list[str]

_WIKI = re.compile(r"\s*\{\|")
# Attributes of a cell come before a bar that is not part of a link.
_ATTRIBUTES = re.compile(r"^[^|\[\]{}]*\w\s*=[^|\[\]{}]*\|(?!\|)")
_LINK = re.compile(r"\[\[(?:[^|\[\]]*\|)?([^|\[\]]*)\]\]")
_BOLD = re.compile(r"'{2,5}")
_TABULAR = re.compile(r"\s*\\begin\{(?:tabular|longtable|array)[xy*]?\}")
_RULES = re.compile(
    r"\\(?:(?:top|mid|bottom)rule|hline|endhead|endfirsthead|endfoot|endlastfoot|"
    r"(?:cmid|c)rule(?:\([lr]+\))?\{[^{}]*\}|cline\{[^{}]*\}|addlinespace)(?:\[[^\[\]]*\])?"
)
_SPANNING = re.compile(r"\\multicolumn\{(\d{1,2})\}\{[^{}]*\}\{([^{}]*)\}")
_COMMAND = re.compile(r"\\(?:text\w\w|emph|textbf|mathbf|num)\{([^{}]*)\}")
_ESCAPED = re.compile(r"\\([&%$#_{}])")
_REMARK = re.compile(r"(?<!\\)%.*")


def is_wiki(lines: Sequence[str]) -> bool:
    """Return whether lines hold a table between braces, as in MediaWiki."""
    return any(map(_WIKI.match, lines)) and any(line.startswith("|-") for line in lines)


def is_asciidoc(lines: Sequence[str]) -> bool:
    """Return whether lines hold a table of AsciiDoc."""
    return "|===" in lines


def is_latex(lines: Sequence[str]) -> bool:
    """Return whether lines hold a table of LaTeX."""
    return any(map(_TABULAR.match, lines)) and any("&" in line for line in lines)


def from_wiki(lines: Iterable[str], _found: Any) -> Iterator[str]:
    """Rewrite the first table between braces; the next row ends a row."""
    row: list[str] = []
    is_inside = is_done = False
    for line in lines:
        bare = line.strip()
        if not is_inside or is_done:
            is_inside = is_inside or _WIKI.match(bare) is not None
            yield "\n"
        elif bare.startswith(("|-", "|}", "|+")):
            yield from write_row(_wiki_cells(row), len(row))
            yield "\n"
            row, is_done = [], bare.startswith("|}")
        else:
            row.append(bare)
    yield from write_row(_wiki_cells(row), len(row))


def _wiki_cells(lines: Iterable[str]) -> Row:
    cells: Row = []
    for line in lines:
        if line[:1] in ("|", "!"):
            parts = re.split(r"\|\||!!" if line[0] == "!" else r"\|\|", line[1:])
            cells += [_plain_wiki(_ATTRIBUTES.sub("", part, count=1)) for part in parts]
        elif cells:
            cells[-1] = f"{cells[-1]} {_plain_wiki(line)}".strip()
    return cells


def _plain_wiki(text: str) -> str:
    return _BOLD.sub("", _LINK.sub(r"\1", text)).strip()


def from_asciidoc(lines: Iterable[str], _found: Any) -> Iterator[str]:
    """Rewrite the first table between rulers; each row has one line."""
    rulers = 0
    for line in lines:
        bare = line.strip()
        rulers += bare == "|==="
        is_row = rulers == 1 and bare.startswith("|") and bare != "|==="
        yield from write_row([cell.strip() for cell in bare[1:].split("|")] if is_row else [], 1)


def from_latex(lines: Iterable[str], _found: Any) -> Iterator[str]:
    """Rewrite the first table; two backslashes end a row."""
    row: list[str] = []
    is_inside = is_done = False
    for line in lines:
        bare = _RULES.sub("", _REMARK.sub("", line)).strip()
        is_done = is_done or (is_inside and bare.startswith("\\end{"))
        if not is_inside or is_done:
            is_inside = is_inside or _TABULAR.match(line) is not None
            yield "\n"
            continue
        row.append(bare)
        if "\\\\" in bare or not any(row):
            yield from write_row(_latex_cells(" ".join(row).split("\\\\")[0]), len(row))
            row = []
    yield "\n" * len(row)


def _latex_cells(row: str) -> Row:
    cells: Row = []
    for cell in re.split(r"(?<!\\)&", row):
        text = _COMMAND.sub(r"\1", cell.replace("~", " "))
        spanning = _SPANNING.search(text)
        text = _COMMAND.sub(r"\1", _SPANNING.sub(r"\2", text))
        text = re.sub(r"(?<!\\)\$", "", text)
        cells.append(_ESCAPED.sub(r"\1", text).strip())
        cells += [""] * (int(spanning[1]) - 1 if spanning else 0)
    return cells


def write_row(cells: Sequence[str], lines: int) -> Iterator[str]:
    """Write a row in place of several lines."""
    if lines and any(cells):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerow(cells)
        yield out.getvalue()
        lines -= 1
    yield "\n" * lines
