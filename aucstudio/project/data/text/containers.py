"""Containers of other programs around a table: markup, frames, quoted lines, guarded cells.

A container is recognised by the first lines of a file. The file is then written again line by
line, so that rows keep their line numbers.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from aucstudio.project.data.finding import Finding, noticed
from aucstudio.project.data.text import container_markup as markup
from aucstudio.project.data.text import container_records as records
from aucstudio.project.data.text.dialect import DELIMITERS
from aucstudio.project.data.text.numerals import BLANKS

Lines = Sequence[str]

# Lines by which a container is recognised, and those of them that may be titles.
_FIRST_LINES, _TITLES = 200, 10
# What no plain table of delimited cells holds.
_MARKS_OF_CONTAINERS = re.compile(
    r"""["'=|>*{}\\`\f\u2500-\u257f\u201c\u201e\u00ab]|^\W*\w[^,;\t]*:(?:\s|[^\t]*\t)|[;:~]{2}""",
    re.MULTILINE,
)


@dataclasses.dataclass(frozen=True)
class Container:
    """A way to wrap a table.

    Attributes
    ----------
    code : str
        The notice about it; empty where none is needed.
    recognise : callable
        Takes the first stripped lines that are not blank. What it returns is passed to ``rewrite``
        if it is true.
    rewrite : callable
        Takes all lines and what was recognised, and yields as many lines.
    """

    code: str
    recognise: Callable[[Lines], Any]
    rewrite: Callable[[Iterable[str], Any], Iterator[str]]


def unwrap(path: Path, text: str, folder: Path) -> tuple[Path, list[Finding]]:
    """Write a UTF-8 file again without its container; ``text`` holds its first lines.

    Returns
    -------
    Path
        The file itself if it has no container.
    list of Finding
    """
    lines = [line.strip(" \t\r") for line in text.split("\n")[:_FIRST_LINES] if line.strip(BLANKS)]
    if not lines or _is_plain(text):
        return path, []
    for container in CONTAINERS:
        if found := container.recognise(lines):
            target = folder / "unwrapped.csv"
            with target.open("w", encoding="utf-8", newline="\n") as copy:
                copy.writelines(container.rewrite(_Lines(path), found))
            values = found if isinstance(found, dict) else {}
            return target, [noticed("kind", container.code, **values)] if container.code else []
    return path, []


def _is_plain(text: str) -> bool:
    """Return whether a delimiter is equally frequent in all lines that hold no container's mark."""
    lines = [line for line in text.split("\n")[:_FIRST_LINES] if line.strip()]
    counts = [{line.count(mark) for line in lines} for mark in DELIMITERS]
    is_regular = any(len(found) == 1 and 0 not in found for found in counts)
    return is_regular and not _MARKS_OF_CONTAINERS.search(text)


class _Lines:
    """The lines of a file; can be iterated several times."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[str]:
        with self._path.open(encoding="utf-8-sig", newline="\n") as file:
            yield from file


def _each_line(rewrite: Callable[[str], str]) -> Callable[[Iterable[str], Any], Iterator[str]]:
    return lambda lines, _found: map(rewrite, lines)


# Lines in quotation marks, and lines of a quoted e-mail.
_QUOTED = re.compile(r'"(?:[^"]|"")*"')


def _are_quoted(lines: Lines) -> bool:
    if len(lines) < 2 or not all(map(_QUOTED.fullmatch, lines)):
        return False
    inner = [_without_quotes(line) for line in lines]
    return any(all(mark in line for line in inner) for mark in DELIMITERS)


def _without_quotes(line: str) -> str:
    bare = line.rstrip("\r\n")
    if not _QUOTED.fullmatch(bare):
        return line
    return bare[1:-1].replace('""', '"') + line[len(bare) :]


def _are_replies(lines: Lines) -> bool:
    return len(lines) > 1 and all(line.startswith(">") for line in lines)


def _without_reply_mark(line: str) -> str:
    return line.lstrip(" ").removeprefix(">").removeprefix(" ")


# Frames: drawn with box characters, of Stata with row numbers on the left, of Markdown and Jira.
_RULE = re.compile("[ \t|+:=\u2500-\u257f-]*(?:---|===|[\u2500\u2501\u2550\u254c\u254d]{3}).*")
_DRAWN_BAR = re.compile("[\u2502\u2503\u2506\u250a\u2551]")
_ROW_NUMBER = re.compile(r"[0-9]+\. +(?=\|)")


def _with_bars(line: str) -> str:
    """Return a stripped line with plain bars and without a row number; empty for a rule."""
    bare = _ROW_NUMBER.sub("", _DRAWN_BAR.sub("|", line.strip()))
    return "" if _RULE.fullmatch(bare) and not any(map(str.isalnum, bare)) else bare


def _are_barred(lines: Lines) -> bool:
    """Return whether bars enclose all lines but rules, titles and one other line."""
    rows = [*filter(None, map(_with_bars, lines))]
    # Without bars between cells, rules with corners show that the outer bars are a frame.
    fewest = 2 if any(re.fullmatch(r"[|+]-{3,}[|+]", line) for line in lines) else 3
    enclosed = [row[:1] == row[-1:] == "|" and row.count("|") >= fewest for row in rows]
    titles = enclosed.index(True) if True in enclosed[:_TITLES] else 0
    return len(rows) - titles > 1 and sum(enclosed) >= max(2, len(rows) - titles - 1)


def _are_drawn(lines: Lines) -> bool:
    """Return whether a frame is drawn, or has row numbers on the left."""
    is_drawn = any(_DRAWN_BAR.search(line) or _ROW_NUMBER.match(line) for line in lines)
    return is_drawn and _are_barred(lines)


def _without_bars(line: str) -> str:
    bare = _with_bars(line).replace("||", "|")
    is_row = bare[:1] == bare[-1:] == "|" and len(bare) > 1
    return bare[1:-1] + "\n" if is_row else line if bare else "\n"


def _have_one_bar(lines: Lines) -> bool:
    """Return whether one drawn bar separates row numbers from cells, as in Julia."""
    return {len(_DRAWN_BAR.findall(line)) for line in lines} == {0, 1}


def _without_one_bar(line: str) -> str:
    return _DRAWN_BAR.sub(" ", line) if _DRAWN_BAR.search(line) else "\n"


# Delimiters that are doubled, or differ in the header. Two commas or tabs are an empty column.
_DOUBLED = ("||", ";;", "::", "~~")


def _doubled_delimiter(lines: Lines) -> dict[str, str]:
    """Return a delimiter that is always doubled and equally frequent in all lines."""
    for mark in _DOUBLED if len(lines) > 2 else ():
        counts = {line.count(mark) for line in lines}
        singles = {line.count(mark[0]) for line in lines}
        if len(counts) == 1 and counts != {0} and singles == {2 * n for n in counts}:
            return {"doubled": mark, "single": mark[0]}
    return {}


def _with_single_delimiters(lines: Iterable[str], found: dict[str, str]) -> Iterator[str]:
    return (line.replace(found["doubled"], found["single"]) for line in lines)


def _other_delimiter(lines: Lines) -> dict[str, str]:
    """Return the delimiter of the header if the rows have another one, and theirs."""
    header, *rows = lines
    for mark in DELIMITERS:
        count = header.count(mark)
        for other in DELIMITERS.replace(mark, "") if count and rows else "":
            if other not in header and all(
                row.count(other) == count and mark not in row for row in rows
            ):
                return {"names": mark, "rows": other, "header": header}
    return {}


def _with_one_delimiter(lines: Iterable[str], found: dict[str, str]) -> Iterator[str]:
    for line in lines:
        is_header = line.strip() == found["header"]
        yield line.replace(found["names"], found["rows"]) if is_header else line


# Cells that are guarded against Excel, bracketed, or in typographic quotation marks.
_START, _END = r"(?:(?<=[,;\t])|^)", r"(?=[,;\t\r\n]|$)"
_GUARDED = re.compile(rf'{_START}(?:="([^"\n]*)"|"=""([^"\n]*)"""){_END}', re.M)
_APOSTROPHE = re.compile(rf"{_START}'(?=[0-9+-])(?=[^',;\t\r\n]*{_END})", re.M)
_CLOSING_APOSTROPHE = re.compile(rf"'{_END}", re.M)
# Logs of web servers write times so, between quoted cells.
_BRACKETED = re.compile(r'(?<= )\[([^\[\]" ]{1,40}(?: [^\[\]" ]{1,40}){1,4})\](?= ")')
_TYPOGRAPHIC = re.compile(
    "(?:(?<=[,;\t|])|^) ?"
    "(?:\u201c([^\u201c\u201d\n]*)\u201d|\u201e([^\u201c-\u201e\n]*)[\u201c\u201d]|"
    "\u00ab([^\u00ab\u00bb\n]*)\u00bb)(?= ?[,;\t|\r\n]| ?$)",
    re.M,
)


def _are_guarded(lines: Lines) -> bool:
    return any(map(_GUARDED.search, lines))


def _are_bracketed(lines: Lines) -> bool:
    return all(len(_BRACKETED.findall(line)) == 1 for line in lines)


def _have_apostrophes(lines: Lines) -> bool:
    return any(map(_APOSTROPHE.search, lines)) and not any(map(_CLOSING_APOSTROPHE.search, lines))


def _have_typographic_quotes(lines: Lines) -> bool:
    """Return whether delimiters are within typographic quotation marks."""
    cells = ("".join(filter(None, groups)) for s in lines for groups in _TYPOGRAPHIC.findall(s))
    return any(mark in cell for cell in cells for mark in DELIMITERS)


def _with_plain_quotes(line: str) -> str:
    def quoted(found: re.Match[str]) -> str:
        return '"' + "".join(filter(None, found.groups())).replace('"', '""') + '"'

    return _TYPOGRAPHIC.sub(quoted, line)


# The first container that is recognised is taken.
CONTAINERS = (
    Container("import_wiki", markup.is_wiki, markup.from_wiki),
    Container("import_asciidoc", markup.is_asciidoc, markup.from_asciidoc),
    Container("import_latex", markup.is_latex, markup.from_latex),
    Container("import_key_lines", records.find_keys, records.join_key_lines),
    Container("import_key_cells", records.find_key_cells, records.name_key_cells),
    Container("import_folded", records.find_blocks, records.join_blocks),
    Container("import_pages", records.find_page_head, records.without_page_heads),
    Container("import_quoted_lines", _are_quoted, _each_line(_without_quotes)),
    Container("import_replies", _are_replies, _each_line(_without_reply_mark)),
    Container("import_frame", _are_drawn, _each_line(_without_bars)),
    Container("import_frame", _have_one_bar, _each_line(_without_one_bar)),
    Container("", _are_barred, _each_line(_without_bars)),
    Container("import_doubled_delimiter", _doubled_delimiter, _with_single_delimiters),
    Container("import_other_delimiter", _other_delimiter, _with_one_delimiter),
    Container(
        "import_guarded", _are_guarded, _each_line(lambda line: _GUARDED.sub(r'"\1\2"', line))
    ),
    Container(
        "import_bracketed",
        _are_bracketed,
        _each_line(lambda line: _BRACKETED.sub(r'"\1"', line, count=1)),
    ),
    Container(
        "import_apostrophes", _have_apostrophes, _each_line(lambda line: _APOSTROPHE.sub("", line))
    ),
    Container(
        "import_typographic_quotes", _have_typographic_quotes, _each_line(_with_plain_quotes)
    ),
)
