"""Rows that are none of a table: sums and headings of others, remarks, records around it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Sequence

from aucstudio.project.data.text.missing import BLANKS
from aucstudio.project.data.text.separators import is_value

_TOTAL = re.compile(
    r"(grand |sub)?-?totals?( general| g\u00e9n\u00e9ral)?|sums?|summe|gesamt|insgesamt|somme|suma|"
    r"totale|averages?|means?|avg\.?|mittelwert|\u03a3|\u2211|median|"
    r"st(andar)?d\.? ?dev(iation)?\.?|(grand )?total ?[:\u2013-] .+",
)
_MEAN = re.compile(r"averages?|means?|avg\.?|mittelwert|median")
# Such are names and codes too, unless a mean stands beside.
_BESIDE = re.compile(r"min(imum)?|max(imum)?|sd|std\.?|count|anzahl|n")
_SUBTOTAL = re.compile(
    r"(?P<thing>.+) (sub-?)?(totals?|result|ergebnis)|(sub-?|zwischen)(total|summe)|"
    r"(sub-?)?total ?[:\u2013-] .+"
)
# The same behind what it is of.
_RESULT = re.compile(r"(sub-?)?totals?|result|ergebnis|r\u00e9sultat|summe|somme|suma|sum")
# Such may be levels too, unless a gap stands beside.
_ALL = re.compile(r"overall|all|(all|alle|toutes|tous les|todos los|todas las)( [^\W\d_]+){1,2}")
_MOST_WORDS = 8
# Above what may be a summary there are so many rows.
_FEWEST_ABOVE = 3
# Of the rows below headings, so many have no gaps.
_FULL = 0.9
# What programs say below a table that they print.
_COUNTED = re.compile(
    r"[(\[]?[0-9][0-9.,' ]*((row|record|result)(s|\(s\))?|zeilen|datens\u00e4tze|"
    r"lignes|filas|registros)"
    r"( (selected|affected|returned|fetched|retrieved|found|in set|x [0-9]+ columns))?"
    r"( ?\([0-9.,]+ ?(s|sec)\.?\))?[)\]]?[.:]?|"
    r"\W*end of (report|file|list|data|table|extract)\W*"
)
_NOTE = re.compile(
    r"n ?= ?[0-9]+|"
    r"(notes?|sources?|remarks?|footnotes?|legend|disclaimer|copyright|quelle|anmerkung(en)?|"
    r"hinweise?|stand|fuentes?|notas?|fonte|bron|k\u00e4lla|remarques?) ?:.*|"
    r"[*\u2020\u00a9\u203b] ?\w.*|"
    r"(\u6ce8|\u6ce8\u8a18|\u5099\u8003|\u51fa\u5178|\u8cc7\u6599|\u6765\u6e90|"
    r"\u6570\u636e\u6765\u6e90|\uc8fc|\uc790\ub8cc) ?[)\uff09:\uff1a].*"
)
_PROMPT = re.compile(r"(?:sql|mysql|mariadb|sqlite|hive|beeline|[\w-]+=[#>])> ?|>>> |\. [a-z]")
# Days with a time have blanks too, but no letters.
_PROSE = re.compile(r"(?=.*[^\W\d_]).*\w\W*[\s=:]\W*\w.*|end|eof|confidential")
_HEAD = frozenset({"hdr", "header", "h", "fhdr"})
_TRAILER = frozenset({"trl", "tlr", "trailer", "ftr", "eof"})
# What is a trailer below such records only.
_SHORT_TRAILER, _SHORT_DETAIL = frozenset({"t", "z"}), frozenset({"d"})


def is_total(cells: Sequence[str], *, beside: bool = False) -> bool:
    """Return whether a row says that it sums up others, and has gaps or numbers beside that.

    ``beside`` where a mean stands beside.
    """
    first, others = _told(cells)
    if _TOTAL.fullmatch(first) or (beside and _BESIDE.fullmatch(first)):
        return len(others) + 1 < len(cells) or all(map(is_value, others))
    if _ALL.fullmatch(first):
        return 0 < len(others) < len(cells) - 1 and all(map(is_value, others))
    # Where cells are cut by their places, a word may be cut too.
    said = [between.join([first, *others]).lower() for between in (" ", "")]
    is_counted = len(others) < _MOST_WORDS and any(map(_COUNTED.fullmatch, said))
    return is_subtotal(cells) or is_counted


def is_mean(cells: Sequence[str]) -> bool:
    """Return whether a row says that it is the mean of others."""
    return _MEAN.fullmatch(_told(cells)[0]) is not None and is_total(cells)


def is_subtotal(cells: Sequence[str], above: Container[str] = ()) -> bool:
    """Return whether a row sums up those of one thing.

    It has gaps where these have cells; or else numbers, if the thing is what rows ``above`` begin
    with.
    """
    first, others = _told(cells)
    if (found := _SUBTOTAL.fullmatch(first)) is None:
        return _is_result(cells)
    return 0 < len(others) < len(cells) - 1 or (
        (found["thing"] or "") in above and all(map(is_value, others))
    )


def _is_result(cells: Sequence[str]) -> bool:
    """Return whether a row says before its first gap that it sums up, and has numbers after it."""
    gap = next((k for k, cell in enumerate(cells) if not cell.strip(BLANKS)), 0)
    if gap < 2 or not _RESULT.fullmatch(cells[gap - 1].strip(BLANKS).lower()):
        return False
    filled = [stripped for cell in cells[gap:] if (stripped := cell.strip(BLANKS))]
    return bool(filled) and all(map(is_value, filled))


def is_note(cells: Sequence[str], *, is_apart: bool) -> bool:
    """Return whether a row is a remark below a table: words in the first cell, and nothing else.

    Of those that a blank line parts from the rows any sentence is one; so is what was typed at the
    prompt of a program.
    """
    first, others = _told(cells)
    if is_apart and _PROMPT.match(" ".join([first, *others])):
        return True
    if len(cells) < 3 or others:
        return False
    return bool(_NOTE.fullmatch(first) or (is_apart and _PROSE.fullmatch(first)))


def summary_below(rows: Sequence[tuple[int, Sequence[str]]]) -> int:
    """Count the last rows that a blank line parts from the others, if they fill half their cells.

    A summary stands so below a table. Rows come with the line they begin in; those above have to
    be fuller.
    """
    ends = (line + sum(cell.count("\n") for cell in cells) for line, cells in rows)
    begins = (line for line, _ in rows[1:])
    gaps = [k for k, (end, line) in enumerate(zip(ends, begins, strict=False), 1) if line > end + 1]
    if not gaps or gaps[0] < _FEWEST_ABOVE:
        return 0
    is_half = [_is_half(cells) for _, cells in rows]
    is_summary = all(is_half[gaps[0] :]) and not any(is_half[: gaps[0]])
    return len(rows) - gaps[0] if is_summary else 0


def _is_half(cells: Sequence[str]) -> bool:
    """Return whether at most half of three cells and more are filled, the first with words."""
    filled = sum(bool(cell.strip(BLANKS)) for cell in cells)
    return len(cells) > 2 and 2 * filled <= len(cells) and not is_value(cells[0])


def is_heading(cells: Sequence[str]) -> bool:
    """Return whether a row has words in its first cell, and nothing else."""
    first, others = _told(cells)
    return not others and bool(first) and bool(cells[0].strip(BLANKS)) and not is_value(first)


def have_headings(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows with a first cell alone are headings: the first one, and others.

    They differ in form from the first cells of all other rows, of which hardly any has gaps.
    """
    heads = [row[0] for row in rows if is_heading(row)]
    if len(heads) < 2 or len(rows[0]) < 3 or not is_heading(rows[0]):
        return False
    others = [row for row in rows if not is_heading(row)]
    follows = [is_heading(a) and is_heading(b) for a, b in itertools.pairwise(rows)]
    if len(others) < 2 * len(heads) or any(follows) or len(set(heads)) < len(heads):
        return False
    full = sum(all(row[1:]) for row in others)
    forms = {_form(row[0]) for row in others}
    return full >= _FULL * len(others) and not any(_form(head) in forms for head in heads)


def _form(cell: str) -> str:
    """Return what a cell looks like: a word for letters, a 0 for digits."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", cell))


def word_of(cells: Sequence[str]) -> str:
    """Return what a row would say if it summed up others."""
    return _told(cells)[0]


def is_trailer(cells: Sequence[str], before: Sequence[str]) -> bool:
    """Return whether a row is the record that ends a file, the one ``before`` it being of data."""
    first, above = _kind(cells), _kind(before)
    return first != above and (
        first in _TRAILER or (first in _SHORT_TRAILER and above in _SHORT_DETAIL)
    )


def is_head_record(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first row is a header record: those below are of one kind."""
    kinds = [*map(_kind, rows)]
    below = kinds[1:-1] if len(kinds) > 3 else kinds[1:]
    return kinds[0] in _HEAD and len(below) > 1 and set(below) == {below[0]} != {kinds[0]}


def _kind(cells: Sequence[str]) -> str:
    return cells[0].strip(BLANKS).lower() if cells else ""


def _told(cells: Sequence[str]) -> tuple[str, list[str]]:
    filled = [stripped for cell in cells if (stripped := cell.strip(BLANKS))]
    return (filled[0].lower().rstrip(": "), filled[1:]) if filled else ("", [])
