"""Detect the layout of a text table: separators, header, body and footer."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aucstudio.notices.words import listed
from aucstudio.project.data.finding import Finding, remark
from aucstudio.project.data.text.dialect import (
    BLANK,
    DELIMITERS,
    Dialect,
    Row,
    TextSample,
    short_header,
)
from aucstudio.project.data.text.footer import TableRow, have_headings, is_heading, mark_footer
from aucstudio.project.data.text.header import (
    NameRows,
    are_names,
    are_units,
    find_name_rows,
    joined_names,
)
from aucstudio.project.data.text.numerals import (
    BLANKS,
    guess_decimal,
    plain_remarks,
)
from aucstudio.project.data.text.separators import (
    Record,
    cut_rows,
    detect_comments,
    detect_separators,
    is_number,
    is_value,
    modal_width,
    uncommented,
)

_SHOWN = 5
# Comments above the rows among which names are looked for.
_LAST_COMMENTS = 4
# The most columns of a very wide table that decide on the decimal mark.
_MOST_VOTING = 2_000
_EXCEL_HINT = re.compile(r"sep=(.)\n?", re.IGNORECASE)
# What a person may set and the text does not overrule.
_FIXED = ("escape", "edges", "comment")


@dataclasses.dataclass(frozen=True)
class Layout:
    """The layout of a file, from its first lines.

    Attributes
    ----------
    dialect : Dialect
    sample : TextSample
    findings : tuple of Finding
        What was found above and below the names.
    header : list of str
        The row of names as it is in the file.
    """

    dialect: Dialect
    sample: TextSample
    findings: tuple[Finding, ...] = ()
    header: Row = dataclasses.field(default_factory=list)


def detect_layout(text: str, whole: bool, encoding: str, given: Mapping[str, Any]) -> Layout:
    """Detect the layout of a file from its first lines.

    Parameters
    ----------
    text : str
    whole : bool
        Whether the file has no more lines.
    encoding : str
    given : mapping of str to object
        The parts of the dialect that a person set.
    """
    hint = _EXCEL_HINT.match(text)
    marks = {part: given[part] for part in ("delimiter", "quote") if part in given}
    if hint:
        marks = {"delimiter": hint[1]} | marks
    skip = given.get("skip", 1 if hint else 0)
    dialect = detect_separators(text, whole, marks, skip)
    fixed = {part: given[part] for part in _FIXED if part in given}
    dialect = dataclasses.replace(dialect, encoding=encoding, **fixed)
    comments: list[int] = []
    if "comment" not in given:
        mark, comments = detect_comments(text, dialect)
        dialect = dataclasses.replace(dialect, comment=mark)
    rows, width = _cut_rows(text, whole, dialect)
    if given.get("ragged", _is_ragged(rows, dialect)):
        dialect = dataclasses.replace(dialect, ragged=True)
        width = max(map(len, (row for _, row in rows)))
        rows = [(line, [*row, *[""] * (width - len(row))]) for line, row in rows]
    rows = _with_commented_names(text, rows, comments, dialect, width)
    found = find_name_rows(rows, width, given)
    if "comment" not in given and not any(line > found.first for line in comments):
        dialect = dataclasses.replace(dialect, comment="")
    return _layout(rows, width, dialect, found, given)


def _cut_rows(text: str, whole: bool, dialect: Dialect) -> tuple[list[Record], int]:
    """Cut rows; again with their usual width if some are irregular, to place quotation marks."""
    rows = cut_rows(text, whole, dialect)
    width = modal_width(rows)
    if any(len(row) != width for _, row in rows):
        rows = cut_rows(text, whole, dialect, width)
    return rows, modal_width(rows)


def _is_ragged(rows: Sequence[Record], dialect: Dialect) -> bool:
    """Return whether most rows end at their last value; the longest have all cells."""
    if dialect.delimiter == BLANK or not rows:
        return False
    names, *others = [row for _, row in rows]
    cells = [*map(len, others)]
    short, full = [n for n in cells if n < len(names)], cells.count(len(names))
    return (
        2 * len(short) >= len(cells)
        and full > 1
        and len(short) + full == len(cells)
        and 2 * sum(2 * n >= len(names) for n in short) > len(short)
        and are_names(names)
        and all(row[-1] for row in others)
    )


def _layout(
    rows: list[Record], width: int, dialect: Dialect, found: NameRows, given: Mapping[str, Any]
) -> Layout:
    names = found.names or 0
    header = [] if found.names is None else rows[names][1]
    table = [(line, row) for line, row in rows[found.body :] if len(row) == width and row != header]
    marked = mark_footer(TableRow(line, row) for line, row in table)
    body = [row.cells for row in marked if not row.reason]
    headings = given.get("headings", "skip" not in given and have_headings(body))
    if headings:
        body = [row for row in body if not is_heading(row)]
    if header:
        upper = [row for _, row in rows[names - found.upper : names]]
        first, findings = _names(upper, header, width)
    else:
        first, findings = (body[0] if body else []), []
    sample = _without_blank_end(TextSample(first, body, width), has_header=bool(header))
    voting = sample.columns[:: max(1, sample.width // _MOST_VOTING)]
    lower = rows[names + 1 : found.body] if header else []
    dialect = dataclasses.replace(
        dialect,
        decimal=given.get("decimal") or guess_decimal(voting, dialect.delimiter),
        header=bool(header),
        skip=given.get("skip", found.first - 1),
        upper_rows=found.upper,
        lower_rows=len(lower),
        missing=_missing_words(sample.columns, given),
        totals=given.get("totals", False),
        headings=headings,
        strict=given.get("strict", False),
        limits=given.get("limits", ""),
        short_header=short_header(sample) if header else "",
    )
    dialect.check()
    if sum(map(is_number, header)) > 1:
        findings.append(remark("import_numeric_names"))
    findings += _about_lower_rows(lower, first)
    if not header and (above := [row for row in rows if row[0] < found.first]):
        findings += _about_unfit_names(*above[-1], sample.width)
    if dialect.ragged:
        findings.append(remark("import_ragged"))
    return Layout(dialect, sample, tuple(findings), header)


def _names(upper: Sequence[Row], header: Row, width: int) -> tuple[Row, list[Finding]]:
    """Return one name for each cell of the rows, as far as there are so many."""
    names, findings = header, []
    for row in reversed(upper):
        names = joined_names(row, names)
    if upper:
        findings.append(remark("import_combined_names", rows=len(upper) + 1))
    extra = len(names) - width
    if 0 < extra == names.count("") and names[width:] != [""] * extra:
        names = [*filter(None, names)]
        findings.append(remark("import_blank_names", names=extra))
    elif dropped := [name for name in names[width:] if name] if extra > 0 else []:
        findings.append(remark("import_extra_names", names=extra, columns=listed(dropped, _SHOWN)))
    return names, findings


def _without_blank_end(sample: TextSample, *, has_header: bool) -> TextSample:
    """Leave out the columns without name and cells that delimiters at the end of all rows make.

    Without a header that is one column at most.
    """
    least = max(2, sample.width - (sample.width if has_header else 1))
    width = sample.width
    while width > least and not any(sample.first[width - 1 :] if has_header else []):
        if not sample.body or any(sample.columns[width - 1]):
            break
        width -= 1
    if width == sample.width:
        return sample
    return TextSample(sample.first[:width], [row[:width] for row in sample.body], width)


def _missing_words(columns: list[list[str]], given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the spellings of missing values, given or detected."""
    found = () if "header" in given else plain_remarks(columns)
    return tuple(dict.fromkeys([*map(str.lower, given.get("missing", ())), *found]))


def _about_unfit_names(line: int, row: Row, width: int) -> Iterator[Finding]:
    """Report names above the rows that are too few or too many for the columns."""
    if 1 < len(row) != width and are_names(row):
        yield remark("import_unfit_names", line=line, names=len(row), cells=width)


def _about_lower_rows(rows: Sequence[Record], names: Row) -> Iterator[Finding]:
    """Report the rows between the names and the data."""
    for line, row in rows:
        cells = [f"{n} {unit[:40]}" for n, unit in zip(names, row, strict=False) if unit]
        code = "import_units" if are_units(row) else "import_name_words"
        yield remark(code, line=line, cells=listed(cells, _SHOWN))


def _with_commented_names(
    text: str, rows: list[Record], comments: Sequence[int], dialect: Dialect, width: int
) -> list[Record]:
    """Put the last comment that holds names before the rows, if these lack names."""
    mark, before = dialect.comment, [line for line in comments if rows and line < rows[0][0]]
    kept = [row for _, row in rows if len(row) == width] if before else []
    if not kept or not any(map(is_value, kept[0])) or find_name_rows(rows, width, {}).body:
        return rows
    plain = dataclasses.replace(dialect, comment="", skip=0)
    lines = text.split("\n")
    units: list[Record] = []
    for line in reversed(before[-_LAST_COMMENTS:]):
        marked = lines[line - 1].lstrip().startswith(mark + plain.delimiter)
        for cells in _ways_to_cut(uncommented(lines[line - 1], mark), plain):
            if len(cells) in (width, width - 1) and _may_be_names(cells):
                # The first name may look like the comment mark.
                named = [mark, *cells[1:]] if marked and not cells[0] else cells
                if not are_units(cells):
                    return [(line, named), *rows]
                units = units or [(line, named)]
    return [*units, *rows]


def _ways_to_cut(line: str, dialect: Dialect) -> Iterator[Row]:
    """Cut a line of names as rows are cut, at wide gaps, and at commas."""
    yield from (row for _, row in cut_rows(line, True, dialect))
    if dialect.delimiter == BLANK:
        yield re.split(r"\s{2,}", line.strip())
    yield [cell.strip() for cell in line.split(",")]


def _may_be_names(cells: Row) -> bool:
    """Return whether a comment may hold names: words, and at most a third numbers (260/280)."""
    words = [any(map(str.isalpha, cell)) for cell in cells if cell and not is_value(cell)]
    numbers = sum(map(is_value, cells))
    is_assigned = any("=" in cell for cell in cells)
    return any(words) and all(words) and 3 * numbers <= len(cells) and not is_assigned


# ------------------------------------------------------------- further tables below

_FEWEST_ROWS, _TITLES_OF_EXTRA, _SHOWN_NAMES = 3, 2, 4


def find_extra_table(text: str, dialect: Dialect) -> tuple[int, Finding] | None:
    """Find the line where a second table begins, in the text of a whole file.

    It begins with names, below a blank line or where rows get another number of cells. The table
    above must be at least as long; a shorter one holds titles.
    """
    lines = text.split("\n")
    rows = cut_rows(text, whole=True, dialect=dataclasses.replace(dialect, skip=0))
    if len({len(row) for _, row in rows}) == 1 and not any(map(_is_blank, lines[:-1])):
        return None
    blocks = [*_blocks([record for record in rows if any(record[1])], lines)]
    first = next((k for k, block in enumerate(blocks) if len(block) >= _FEWEST_ROWS), len(blocks))
    above = _table(blocks[first]) if first < len(blocks) else None
    for block in blocks[first + 1 :] if above else ():
        below = _table(block)
        if below and above and len(above) >= len(below) and _differ(above, below):
            (line, _), (_, names) = block[0], below[0]
            shown = listed(names, _SHOWN_NAMES)
            return line, remark("import_extra_table", (), line=line, names=shown)
    return None


def cut_off(path: Path, line: int, folder: Path) -> Path:
    """Write a UTF-8 file again without a line and those below it."""
    target = folder / "first.csv"
    with path.open("rb") as file, target.open("wb") as copy:
        copy.writelines(itertools.islice(file, line - 1))
    return target


def _is_blank(line: str) -> bool:
    return not line.strip(BLANKS + DELIMITERS)


def _blocks(rows: Sequence[Record], lines: Sequence[str]) -> Iterator[list[Record]]:
    """Split rows at blank lines, and where several rows of another width begin."""
    block: list[Record] = []
    for k, (line, row) in enumerate(rows):
        widths = {len(other) for _, other in rows[k : k + _FEWEST_ROWS]}
        is_other = len(block) >= _FEWEST_ROWS and {len(row)} == widths != {len(block[-1][1])}
        if block and (_is_blank(lines[line - 2]) or (is_other and len(row) > 1)):
            yield block
            block = []
        block.append((line, row))
    if block:
        yield block


def _table(block: Sequence[Record]) -> Sequence[Record] | None:
    """Return the names and rows of a block, without titles; None if it holds no table."""
    for place in range(min(_TITLES_OF_EXTRA, len(block) - 1)):
        names, under = block[place][1], block[place + 1][1]
        is_named = len(names) > 1 and all(names) and len(set(names)) == len(names)
        if is_named and not any(map(is_value, names)):
            return block[place:] if len(under) == len(names) and any(map(is_value, under)) else None
    return None


def _differ(above: Sequence[Record], below: Sequence[Record]) -> bool:
    """Return whether names are those of another table, and not a row of words of the one above."""
    names = below[0][1]
    if len(names) != len(above[0][1]):
        return True
    rows = [row for _, row in above[1:] if len(row) == len(names)]
    is_level = any(name in {row[k] for row in rows} for k, name in enumerate(names))
    is_value_above = any(map(is_value, rows[0])) if rows else False
    return names != above[0][1] and not is_level and is_value_above
