"""Containers of other programs around a table: frames, names beside values, guarded cells.

A container is recognised by the first lines of a file. The file is then written again line by
line, so that rows keep their line numbers.
"""

from __future__ import annotations

import ast
import csv
import dataclasses
import io
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from aucstudio.project.data.finding import Finding, remark
from aucstudio.project.data.text.dialect import DELIMITERS, Row
from aucstudio.project.data.text.numerals import BLANKS

Lines = Sequence[str]
Rewrite = Callable[[Iterable[str], Any], Iterator[str]]

# First lines by which a container is recognised, and those that may be titles.
_FIRST_LINES, _TITLES = 200, 10


@dataclasses.dataclass(frozen=True)
class Container:
    """A way to wrap a table.

    Attributes
    ----------
    code : str
        The notice about it.
    recognise : callable
        Takes the first stripped lines that are not blank. What it returns is passed to ``rewrite``
        if it is true.
    rewrite : callable
        Takes all lines and what was recognised, and yields as many lines.
    """

    code: str
    recognise: Callable[[Lines], Any]
    rewrite: Rewrite


def unwrap(path: Path, text: str, folder: Path) -> tuple[Path, list[Finding]]:
    """Write a UTF-8 file again without its container; ``text`` holds its first lines.

    Returns
    -------
    Path
        The file itself if it has no container.
    list of Finding
    """
    lines = [line.strip(" \t\r") for line in text.split("\n")[:_FIRST_LINES] if line.strip(BLANKS)]
    if not lines:
        return path, []
    for container in CONTAINERS:
        if found := container.recognise(lines):
            target = folder / "unwrapped.csv"
            with target.open("w", encoding="utf-8", newline="\n") as copy:
                copy.writelines(container.rewrite(_Lines(path), found))
            values = found if isinstance(found, dict) else {}
            return target, [remark(container.code, **values)]
    return path, []


class _Lines:
    """The lines of a file; can be iterated several times."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[str]:
        with self._path.open(encoding="utf-8-sig", newline="\n") as file:
            yield from file


def _each_line(rewrite: Callable[[str], str]) -> Rewrite:
    return lambda lines, _found: map(rewrite, lines)


def _replacing(pattern: re.Pattern[str], text: str, count: int = 0) -> Rewrite:
    return _each_line(lambda line: pattern.sub(text, line, count=count))


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


_REPLY_MARK = re.compile("^ *(?:> ?)?")


def _are_replies(lines: Lines) -> bool:
    return len(lines) > 1 and all(line.startswith(">") for line in lines)


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


def _without_bars(line: str) -> str:
    bare = _with_bars(line).replace("||", "|")
    is_row = bare[:1] == bare[-1:] == "|" and len(bare) > 1
    return bare[1:-1] + "\n" if is_row else line if bare else "\n"


def _have_one_bar(lines: Lines) -> bool:
    """Return whether one drawn bar separates row numbers from cells, as in Julia."""
    return {len(_DRAWN_BAR.findall(line)) for line in lines} == {0, 1}


def _without_one_bar(line: str) -> str:
    return _DRAWN_BAR.sub(" ", line) if _DRAWN_BAR.search(line) else "\n"


# The header may have another delimiter than the rows.


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


def _holding(mark: str, lines: Lines) -> Lines:
    """Return the lines that hold a mark: searching for one character is fast."""
    return [line for line in lines if mark in line]


def _are_guarded(lines: Lines) -> bool:
    return any(map(_GUARDED.search, _holding("=", lines)))


def _are_bracketed(lines: Lines) -> bool:
    return all(len(_BRACKETED.findall(line)) == 1 for line in lines)


def _have_apostrophes(lines: Lines) -> bool:
    some = _holding("'", lines)
    return any(map(_APOSTROPHE.search, some)) and not any(map(_CLOSING_APOSTROPHE.search, some))


def _have_quotes(lines: Lines) -> bool:
    """Return whether delimiters are within typographic quotation marks."""
    some = [line for line in lines if not line.isascii()]
    cells = ("".join(filter(None, groups)) for s in some for groups in _TYPOGRAPHIC.findall(s))
    return any(mark in cell for cell in cells for mark in DELIMITERS)


def _with_plain_quotes(line: str) -> str:
    def quoted(found: re.Match[str]) -> str:
        return '"' + "".join(filter(None, found.groups())).replace('"', '""') + '"'

    return _TYPOGRAPHIC.sub(quoted, line)


# ------------------------------------------------------------- names and values, and blocks

# A line with a name and a value, and the lines between records.
_KEY_LINE = re.compile(
    r"(?:- +)?([^\W\d][^:=,;|\t{}\[\]\"]{0,60}?) *(:(?=\s|$)|=(?!=)|\|(?= |$)) *(.*)"
)
_BETWEEN_RECORDS = re.compile(r"\*{3,}.*\*{3,}|-{3,}.*|-\[ RECORD [0-9]+ \]-*")
_FEWEST_RECORDS = 3


def _find_keys(lines: Sequence[str]) -> Row:
    """Return the names of lines of names and values that recur in the same order."""
    found = [_KEY_LINE.fullmatch(line) for line in lines if not _BETWEEN_RECORDS.fullmatch(line)]
    names = [one[1] for one in found if one is not None]
    # Bars separate cells too, unless lines separate the records.
    if len(found) == len(lines) and any(one and one[2] == "|" for one in found):
        return []
    cycle = names[: names.index(names[0], 1)] if names[:1] and names[0] in names[1:] else []
    if len(set(cycle)) < len(cycle) or len(cycle) < 2:
        return []
    is_long = len(names) == len(found) >= _FEWEST_RECORDS * len(cycle)
    is_cyclic = all(name == cycle[k % len(cycle)] for k, name in enumerate(names))
    return cycle if is_long and is_cyclic else []


def _join_key_lines(lines: Iterable[str], names: Sequence[str]) -> Iterator[str]:
    """Write each record in the line where it begins, and the names in the first line."""
    values: dict[str, str] = {}
    height, is_first = 0, True

    def record() -> Iterator[str]:
        if values:
            header = _write_row(names, 1) if is_first else iter(())
            yield from header
            yield from _write_row([values.get(name, "") for name in names], height - is_first)

    for line in lines:
        bare = line.strip()
        found = _KEY_LINE.fullmatch(bare)
        name = found[1] if found else ""
        is_between = _BETWEEN_RECORDS.fullmatch(bare)
        if values and (name in values or not bare or is_between):
            yield from record()
            values, height, is_first = {}, 0, False
        if found and name in names:
            values[name] = found[3]
            height += 1
        else:  # one cell, which is reported as a row that cannot be read
            yield from _write_row([] if is_between else [bare], 1)
    yield from record()


_NAME = r"([^\W\d][\w.@/\[\]-]{0,60})"
# Names and values between blanks, or between delimiters; LTSV has colons.
_PAIR_AND_BLANKS = re.compile(rf'{_NAME}=("(?:[^"\\]|\\.)*+"|[^\s"]*)(?:\s+|$)')
_PAIRS = {
    "\t": re.compile(rf"{_NAME}[:=](.*)"),
    **{mark: re.compile(rf"\s*{_NAME}\s*=(.*)") for mark in ",;|"},
}
# Cells without a name that may come first, such as the time and the source of a log entry.
_NAMELESS, _MOST_NAMELESS = re.compile(r'[^\s="]+'), 4
_DICT, _BLANK = "{", " "
_FEWEST_LINES, _FEWEST_PAIRS = 3, 2
# The least mean share of lines in which a name occurs.
_LEAST_FILLED = 0.3

Pairs = dict[str, str]


def _find_key_cells(lines: Sequence[str]) -> str | None:
    """Return the delimiter of cells such as ``host:a`` or ``status=200`` in all lines."""
    marks = (_DICT, "\t", "|", ";", ",", _BLANK) if len(lines) >= _FEWEST_LINES else ()
    return next((mark for mark in marks if _are_pairs(lines, mark)), None)


def _are_pairs(lines: Sequence[str], mark: str) -> bool:
    pairs = list[Pairs]()
    for line in lines:
        if not (one := _pairs(line, mark)):
            return False
        pairs.append(one)
    nameless = {sum(name[0] == " " for name in one) for one in pairs}
    if len(nameless) != 1 or min(map(len, pairs)) - max(nameless) < _FEWEST_PAIRS:
        return False
    names = {name for one in pairs for name in one}
    return sum(map(len, pairs)) >= _LEAST_FILLED * len(names) * len(pairs)


def _pairs(line: str, mark: str) -> Pairs | None:
    """Return the values of a line by name; None if it holds anything else."""
    if mark == _DICT:
        return _from_dict(line.strip())
    found = _between_blanks(line) if mark == _BLANK else _between_marks(line, mark)
    return None if found is None or len(dict(found)) < len(found) else dict(found)


def _from_dict(line: str) -> Pairs | None:
    """Read a dictionary as Python prints it."""
    if line[:1] != "{" or line[-1:] != "}":
        return None
    try:
        record = ast.literal_eval(line)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    if not isinstance(record, dict) or not all(isinstance(name, str) for name in record):
        return None
    return {name: "" if value is None else str(value) for name, value in record.items()}


def _between_blanks(line: str) -> list[tuple[str, str]] | None:
    words = line.strip().split()[:_MOST_NAMELESS]
    before = [*itertools.takewhile(_NAMELESS.fullmatch, words)]
    found = [(f" {k}", word) for k, word in enumerate(before, 1)]
    rest = line.strip()
    for word in before:
        rest = rest[len(word) :].lstrip()
    place = 0
    while place < len(rest):
        pair = _PAIR_AND_BLANKS.match(rest, place)
        if pair is None:
            return None
        found.append((pair[1], _unquoted(pair[2])))
        place = pair.end()
    return found if place else None


def _between_marks(line: str, mark: str) -> list[tuple[str, str]] | None:
    cells = [_PAIRS[mark].fullmatch(cell) for cell in line.strip("\r\n").split(mark) if cell]
    if None in cells:
        return None
    return [(cell[1], _unquoted(cell[2].strip())) for cell in cells if cell]


def _unquoted(value: str) -> str:
    if len(value) < 2 or not value[0] == value[-1] == '"':
        return value
    return re.sub(r"\\(.)", r"\1", value[1:-1])


def _name_key_cells(lines: Iterable[str], mark: str) -> Iterator[str]:
    """Write the names of all lines, then the values of each; iterates over the lines twice."""
    names: dict[str, None] = {}
    for line in lines:
        names |= dict.fromkeys(_pairs(line, mark) or ())
    yield from _write_row([name.replace(" ", "c") for name in names], 1)
    for line in lines:
        pairs = _pairs(line, mark)
        # Any other line becomes one cell, which is reported as a row that cannot be read.
        yield from _write_row(
            [pairs.get(name, "") for name in names] if pairs else [line.strip()], 1
        )


_SHORTEST_BLOCK = 3
_BELOW_BLOCKS = re.compile(r"\[[0-9]+ rows x [0-9]+ columns\]|\[ reached .*\]")


def find_blocks(lines: Sequence[str]) -> int:
    """Return the height of blocks of columns, as pandas and R print wide tables; else 0."""
    rows = [_words(line) for line in lines if not _BELOW_BLOCKS.fullmatch(line.strip())]
    height = _height(rows)
    is_whole = height >= _SHORTEST_BLOCK and len(rows) >= 2 * height
    return height if is_whole and _are_blocks(rows[: len(rows) // height * height], height) else 0


def _words(line: str) -> Row:
    return line.strip().removesuffix("\\").split()


def _height(rows: Sequence[Row]) -> int:
    """Count the lines of a block: the second line of the next one begins as its second line."""
    if len(rows) < 2 or not rows[1]:
        return 0
    again = (k for k in range(2, len(rows)) if rows[k][:1] == rows[1][:1])
    return max(0, next(again, 0) - 1)


def _are_blocks(rows: Sequence[Row], height: int) -> bool:
    """Return whether rows begin with the same names in all blocks, and have a cell for each column.

    No column name may recur: otherwise the blocks are separate tables.
    """
    labels = [row[0] for row in rows[1:height]]
    names: Row = []
    for start in range(0, len(rows), height):
        header, *below = rows[start : start + height]
        if any(len(row) != len(header) + 1 for row in below) or [row[0] for row in below] != labels:
            return False
        names += header
    return len(set(labels)) == len(labels) and len(set(names)) == len(names)


def _join_blocks(lines: Iterable[str], height: int) -> Iterator[str]:
    """Write all columns in the lines of the first block, if blocks follow to the end."""
    kept = [*lines]
    filled = [k for k, line in enumerate(kept) if line.strip()]
    filled = [k for k in filled if not _BELOW_BLOCKS.fullmatch(kept[k].strip())]
    rows = [_words(kept[k]) for k in filled]
    if len(rows) % height or not _are_blocks(rows, height):
        yield from kept
        return
    places = {line: k for k, line in enumerate(filled[:height])}
    for line in range(len(kept)):
        k = places.get(line)
        if k is None:
            yield "\n"
        else:
            label = rows[k][:1] if k else [""]
            blocks = (rows[start + k][k > 0 :] for start in range(0, len(rows), height))
            yield from _write_row([*label, *itertools.chain(*blocks)], 1)


def _write_row(cells: Sequence[str], lines: int) -> Iterator[str]:
    """Write a row in place of several lines."""
    if lines and any(cells):
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerow(cells)
        yield out.getvalue()
        lines -= 1
    yield "\n" * lines


# The first container that is recognised is taken.
CONTAINERS = (
    Container("import_key_lines", _find_keys, _join_key_lines),
    Container("import_key_cells", _find_key_cells, _name_key_cells),
    Container("import_folded", find_blocks, _join_blocks),
    Container("import_quoted_lines", _are_quoted, _each_line(_without_quotes)),
    Container("import_replies", _are_replies, _replacing(_REPLY_MARK, "")),
    Container("import_frame", _are_barred, _each_line(_without_bars)),
    Container("import_frame", _have_one_bar, _each_line(_without_one_bar)),
    Container("import_other_delimiter", _other_delimiter, _with_one_delimiter),
    Container("import_guarded", _are_guarded, _replacing(_GUARDED, r'"\1\2"')),
    Container("import_bracketed", _are_bracketed, _replacing(_BRACKETED, r'"\1"', 1)),
    Container("import_apostrophes", _have_apostrophes, _replacing(_APOSTROPHE, "")),
    Container("import_typographic_quotes", _have_quotes, _each_line(_with_plain_quotes)),
)
