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


# Boxes and bars: those of terminals, of Stata with row numbers before the frame, of Markdown.
_BOX_RULE = re.compile("[ \u2500-\u257f]*[\u2500\u2501\u2550\u254c\u254d]{3}[ \u2500-\u257f]*")
_BOX_BAR = re.compile("[\u2502\u2503\u2506\u250a\u2551]")
_FRAME, _FRAMED = re.compile(r"[|+](?:-{3,}[|+])+"), re.compile(r"(?:[0-9]+\. +)?\|([^|]+)\|")
_RULE = re.compile(r"[ \t|+:=-]*(?:---|===)[ \t|+:=-]*")
_BARRED = re.compile(r"\|.*\|.*\|")


def _bars_of_box(lines: Lines) -> set[int]:
    """Return how many vertical bars of a drawn box the lines hold; empty without a box."""
    counts = {len(_BOX_BAR.findall(line)) for line in lines}
    return counts if any(map(_BOX_RULE.fullmatch, lines)) and counts != {0} else set()


def _without_box(lines: Iterable[str], bars: set[int]) -> Iterator[str]:
    for line in lines:
        if bars <= {0, 1}:  # a bar between row numbers and cells that are separated by blanks
            yield _BOX_BAR.sub(" ", line) if _BOX_BAR.search(line) else "\n"
        else:
            is_rule = _BOX_RULE.fullmatch(line.strip())
            yield "\n" if is_rule else _without_bars(_BOX_BAR.sub("|", line))


def _are_framed(lines: Lines) -> bool:
    """Return whether all lines between the first and the last ruler are framed."""
    rulers = [k for k, line in enumerate(lines) if _FRAME.fullmatch(line)]
    inside = lines[rulers[0] : rulers[-1]] if rulers else []
    framed = [line for line in inside if not _FRAME.fullmatch(line)]
    return len(framed) > 1 and rulers[0] <= _TITLES and all(map(_FRAMED.fullmatch, framed))


def _without_frame(line: str) -> str:
    found = _FRAMED.fullmatch(line.strip())
    return "\n" if found is None else found[1] + "\n"


def _are_barred(lines: Lines) -> bool:
    """Return whether bars enclose all lines but rules, titles and one other line."""
    barred = [line for line in lines if not _RULE.fullmatch(line)]
    titles = next((k for k, line in enumerate(barred[:_TITLES]) if _BARRED.fullmatch(line)), 0)
    barred = barred[titles:]
    enclosed = sum(line[:1] == line[-1:] == "|" and line.count("|") > 2 for line in barred)
    return len(barred) > 1 and enclosed >= max(2, len(barred) - 1)


def _has_doubled_bars(lines: Lines) -> bool:
    """Return whether bars are doubled around the names, as in Jira."""
    return _are_barred(lines) and any(line[:2] == line[-2:] == "||" for line in lines)


def _without_bars(line: str) -> str:
    bare = line.strip()
    if _RULE.fullmatch(bare):
        return "\n"
    is_row = bare[:1] == bare[-1:] == "|" and len(bare) > 1
    return bare[1:-1] + "\n" if is_row else line


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
    Container("import_spss", markup.spss_names, markup.from_spss),
    Container("import_key_lines", records.find_keys, records.join_key_lines),
    Container("import_key_cells", records.find_key_cells, records.name_key_cells),
    Container("import_folded", records.find_blocks, records.join_blocks),
    Container("import_pages", records.find_page_head, records.without_page_heads),
    Container("import_quoted_lines", _are_quoted, _each_line(_without_quotes)),
    Container("import_replies", _are_replies, _each_line(_without_reply_mark)),
    Container("import_box", _bars_of_box, _without_box),
    Container("import_frame", _are_framed, _each_line(_without_frame)),
    Container(
        "", _has_doubled_bars, _each_line(lambda line: _without_bars(line.replace("||", "|")))
    ),
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
