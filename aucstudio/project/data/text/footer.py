"""Rows that are not data: totals, subtotals, headings of groups, remarks below the table."""

from __future__ import annotations

import collections
import itertools
import re
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from aucstudio.project.data import text as vocabulary
from aucstudio.project.data.text.dialect import Row
from aucstudio.project.data.text.numerals import BLANKS
from aucstudio.project.data.text.separators import is_value

# Reasons for leaving a row out.
TOTALS = "a row of totals"
NOTE = "a comment below the table"
HEADING = "a heading of the rows below it"

_SUBTOTAL = vocabulary.compiled("totals", "subtotal")
# The words of a subtotal in a cell of their own, after the group.
_RESULT = vocabulary.compiled("totals", "result")
_COUNTED = re.compile(
    rf"[(\[]?[0-9][0-9.,' ]*({vocabulary.any_of('totals', 'rows')})"
    rf"( ({vocabulary.any_of('totals', 'done')}))?"
    rf"( ?\([0-9.,]+ ?(s|sec)\.?\))?[)\]]?[.:]?|{vocabulary.any_of('totals', 'end')}"
)
_MOST_WORDS = 8
_NOTE = re.compile(
    rf"{vocabulary.any_of('notes', 'first')}|({vocabulary.any_of('notes', 'headings')}) ?:.*|"
    rf"({vocabulary.any_of('notes', 'asian_headings')}) ?[)\uff09:\uff1a].*"
)
_PROMPT = vocabulary.compiled("notes", "prompts")
_PROSE = vocabulary.compiled("notes", "prose")

Kind = str
MEAN, TOTAL, STATISTIC, SUBTOTAL, NONE = "mean", "total", "statistic", "subtotal", ""
_SUMMARIES = {kind: vocabulary.compiled("totals", kind) for kind in (MEAN, TOTAL, STATISTIC)}
_OVERALL = vocabulary.compiled("totals", "overall")
# The first cell of most rows of totals, in lower case; for programs without this vocabulary.
TOTAL_WORDS = "|".join(_SUMMARIES[kind].pattern for kind in (MEAN, TOTAL))

# Rows at the end among which summaries and remarks are looked for; groups that are remembered.
_LAST_TOTALS, LAST, _MOST_GROUPS = 8, 10, 10_000
# The fewest rows above a separate summary.
_FEWEST_ABOVE = 3
# The share of rows below headings that have no gaps.
_FULL = 0.9


class TableRow(NamedTuple):
    """A row below the header.

    Attributes
    ----------
    line : int
        The first line of the row.
    cells : list of str
    reason : str
        Why the row is left out; empty if it is kept.
    repair : str
        The code of a notice about how the row had to be read; usually empty.
    after_gap : bool
        Whether a blank line separates the row from the rows above.
    """

    line: int
    cells: Row
    reason: str = ""
    repair: str = ""
    after_gap: bool = False


def mark_footer(rows: Iterator[TableRow]) -> Iterator[TableRow]:
    """Mark subtotals, and totals and remarks at the end, with a reason; drop blank rows.

    The cells of the rows that are returned are stripped.
    """
    last: collections.deque[TableRow] = collections.deque()
    # A first cell that occurs further above is a level, not a total.
    levels, groups = set[str](), set[str]()
    for row in _filled(rows):
        if not row.reason and summary_kind(row.cells, groups) == SUBTOTAL:
            row = row._replace(reason=TOTALS)
        elif len(groups) < _MOST_GROUPS:
            groups.add(first_cell(row.cells))
        last.append(row)
        if len(last) > LAST:
            yield last.popleft()
        if len(last) > _LAST_TOTALS:
            row = last[-1 - _LAST_TOTALS]
            levels |= {first_cell(row.cells)} if is_total(row.cells) and not row.reason else set()
    firsts = collections.Counter(first_cell(row.cells) for row in last if is_total(row.cells))
    levels |= {word for word, count in firsts.items() if count > 1}
    has_mean = any(summary_kind(row.cells) == MEAN for row in last)
    separate = {row.line for row in _separate_summary([*last])}
    marked: list[TableRow] = []
    while last:
        row, above = last.pop(), last[-1].cells if last else None
        is_sum = is_total(row.cells, has_mean=has_mean) and first_cell(row.cells) not in levels
        is_end = not marked and above is not None and is_trailer(row.cells, above)
        is_remark = row.line in separate or _is_remark(row.cells, after_gap=row.after_gap)
        reason = row.reason or (TOTALS if is_sum or is_end else NOTE if is_remark else "")
        if not reason:
            last.append(row)
            break
        marked.append(row._replace(reason=reason))
    yield from last
    yield from reversed(marked)


def _filled(rows: Iterator[TableRow]) -> Iterator[TableRow]:
    """Drop blank rows and strip cells; mark the rows that a gap separates from those above."""
    end, after_gap = 0, False
    for row in rows:
        cells = [cell.strip(BLANKS) for cell in row.cells]
        if any(cells):
            is_single = len(cells) - cells.count("") == 1
            after_gap = (after_gap and is_single) or 0 < end < row.line
            end = row.line + 1 + "".join(row.cells).count("\n")
            yield row._replace(cells=cells, after_gap=after_gap)


def is_total(cells: Sequence[str], *, has_mean: bool = False) -> bool:
    """Return whether a row is a summary; ``has_mean`` if a row of means is near."""
    kind = summary_kind(cells)
    return kind in (MEAN, TOTAL, SUBTOTAL) or (has_mean and kind == STATISTIC)


def summary_kind(cells: Sequence[str], groups: Container[str] = ()) -> Kind:
    """Return what a row summarises other rows by.

    Besides its words a summary has gaps where rows have cells, or only numbers. The subtotal of one
    of ``groups``, which rows above begin with, needs no gap.
    """
    first, others = _leading(cells)
    has_gaps = len(others) + 1 < len(cells)
    if has_gaps or not is_value(first):
        if found := _SUBTOTAL.fullmatch(first):
            is_known = (found["group"] or "") in groups and all(map(is_value, others))
            if is_known or (others and has_gaps):
                return SUBTOTAL
        elif _is_result(cells):
            return SUBTOTAL
        of_words = (kind for kind, words in _SUMMARIES.items() if words.fullmatch(first))
        if kind := next(of_words, NONE):
            return kind if has_gaps or all(map(is_value, others)) else NONE
        if _OVERALL.fullmatch(first):
            return TOTAL if others and has_gaps and all(map(is_value, others)) else NONE
    if len(others) >= _MOST_WORDS:
        return NONE
    # Cells that are cut by their places may cut words.
    words = [between.join([first, *others]).lower() for between in (" ", "")]
    return TOTAL if any(map(_COUNTED.fullmatch, words)) else NONE


def _is_result(cells: Sequence[str]) -> bool:
    """Return whether the words of a subtotal precede the first gap, and only numbers follow it."""
    gap = cells.index("") if "" in cells else 0
    if gap < 2 or not _RESULT.fullmatch(cells[gap - 1].lower()):
        return False
    filled = [*filter(None, cells[gap:])]
    return bool(filled) and all(map(is_value, filled))


def _is_remark(cells: Sequence[str], *, after_gap: bool) -> bool:
    """Return whether a row holds a remark: words in the first cell and nothing else.

    Below a gap, any sentence is a remark, and so is input at the prompt of a program.
    """
    first, others = _leading(cells)
    if after_gap and _PROMPT.match(" ".join([first, *others])):
        return True
    is_single = len(cells) > 2 and not others
    return is_single and bool(_NOTE.fullmatch(first) or (after_gap and _PROSE.fullmatch(first)))


def _separate_summary(rows: Sequence[TableRow]) -> Sequence[TableRow]:
    """Return the rows below the only gap if at most half of their cells are filled.

    The rows above must be fuller.
    """
    gap = next((k for k, row in enumerate(rows[1:], 1) if row.after_gap), 0)
    is_sparse = [_is_sparse(row.cells) for row in rows]
    is_summary = gap >= _FEWEST_ABOVE and all(is_sparse[gap:]) and not any(is_sparse[:gap])
    return rows[gap:] if is_summary else ()


def _is_sparse(cells: Sequence[str]) -> bool:
    is_half = len(cells) > 2 and 2 * cells.count("") >= len(cells)
    return is_half and not is_value(cells[0])


def is_heading(cells: Sequence[str]) -> bool:
    """Return whether a row has words in its first cell and nothing else."""
    first, others = cells[0].strip(BLANKS), "".join(cells[1:]).strip(BLANKS)
    return bool(first) and not others and not is_value(first_cell([first]))


def have_headings(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows with a single cell are headings of groups of rows.

    The first row must be one. Headings must differ in form from the first cells of all other rows,
    which must be nearly full.
    """
    are_heads = [*map(is_heading, rows)]
    heads = [row[0] for row in itertools.compress(rows, are_heads)]
    if len(heads) < 2 or len(rows[0]) < 3 or not are_heads[0]:
        return False
    others = [row for row, is_head in zip(rows, are_heads, strict=True) if not is_head]
    follow = any(map(all, itertools.pairwise(are_heads)))
    if len(others) < 2 * len(heads) or follow or len(set(heads)) < len(heads):
        return False
    full = sum(all(row[1:]) for row in others)
    forms = {_form(row[0]) for row in others}
    return full >= _FULL * len(others) and forms.isdisjoint(map(_form, heads))


def _form(cell: str) -> str:
    """Return a cell with "a" for each word and "0" for each number."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", cell))


# The first cells of header and trailer records; those of one letter end detail records only.
_HEADERS, _TRAILERS, _SHORT_TRAILERS = (
    frozenset(vocabulary.words("records", name))
    for name in ("headers", "trailers", "short_trailers")
)
_DETAIL = "d"


def is_trailer(cells: Sequence[str], above: Sequence[str]) -> bool:
    """Return whether a row is the record that ends a file of records."""
    kind, other = first_cell(cells, ""), first_cell(above, "")
    return kind != other and (kind in _TRAILERS or (kind in _SHORT_TRAILERS and other == _DETAIL))


def is_header_record(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row is a header record, and those below it are all of one kind."""
    head, *below = (first_cell(row, "") for row in rows)
    below = below[:-1] if len(below) > 2 else below
    return head in _HEADERS and len(below) > 1 and {head} != {*below} == {below[0]}


def first_cell(cells: Sequence[str], ending: str = ": ") -> str:
    """Return the first cell that is not blank, in lower case."""
    return next(filter(None, cells), "").lower().rstrip(ending)


def _leading(cells: Sequence[str]) -> tuple[str, list[str]]:
    """Return the first cell that is not blank, in lower case, and the other ones."""
    return first_cell(cells), [*filter(None, cells)][1:]
