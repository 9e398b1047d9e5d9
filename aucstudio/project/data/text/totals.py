"""Rows that sum up others, below a table, and records that stand around one."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from aucstudio.project.data.text.numerals import BLANKS, formats

_TOTAL = re.compile(
    r"(grand |sub)?-?totals?( general| g\u00e9n\u00e9ral)?|sums?|summe|gesamt|insgesamt|somme|suma|"
    r"totale|averages?|means?|avg\.?|mittelwert|\u03a3|\u2211|median|"
    r"st(andar)?d\.? ?dev(iation)?\.?",
)
_MEAN = re.compile(r"averages?|means?|avg\.?|mittelwert|median")
# Such are names and codes too, unless a mean stands beside.
_BESIDE = re.compile(r"min(imum)?|max(imum)?|sd|std\.?|count|anzahl|n")
_SUBTOTAL = re.compile(
    r"(?P<thing>.+) (sub-?)?(totals?|result|ergebnis)|(sub-?|zwischen)(total|summe)"
)
# Such may be levels too, unless a gap stands beside.
_ALL = re.compile(r"overall|all|(all|alle|toutes|tous les|todos los|todas las)( [^\W\d_]+){1,2}")
_MOST_WORDS = 8
# What programs say below a table that they print.
_COUNTED = re.compile(
    r"\(?[0-9][0-9.,' ]*(rows?|records?|results?|zeilen|datens\u00e4tze|lignes|filas|registros)"
    r"( (selected|affected|returned|fetched|retrieved|found|in set|x [0-9]+ columns))?"
    r"( ?\([0-9.,]+ ?(s|sec)\.?\))?\)?[.:]?"
)
_NOTE = re.compile(
    r"n ?= ?[0-9]+|"
    r"(notes?|sources?|remarks?|footnotes?|legend|disclaimer|copyright|quelle|anmerkung(en)?|"
    r"hinweise?|stand|fuentes?|notas?|fonte|bron|k\u00e4lla|remarques?) ?:.*|[*\u2020\u00a9] ?\w.*"
)
# Days with a time have blanks too, but no letters.
_PROSE = re.compile(r"(?=.*[^\W\d_]).*\w\W*[\s=:]\W*\w.*|end|eof|confidential")
_HEAD = frozenset({"hdr", "header", "h", "fhdr"})
_TRAILER = frozenset({"trl", "tlr", "trailer", "ftr", "eof"})
# What is a trailer below such records only.
_SHORT_TRAILER, _SHORT_DETAIL = frozenset({"t", "z"}), frozenset({"d"})


def is_total(cells: Sequence[str], *, beside: bool = False) -> bool:
    """Tell whether a row says that it sums up others, and has gaps or numbers beside that.

    ``beside`` where a mean stands beside.
    """
    first, others = _told(cells)
    if _TOTAL.fullmatch(first) or (beside and _BESIDE.fullmatch(first)):
        return len(others) + 1 < len(cells) or all(map(_is_number, others))
    if _ALL.fullmatch(first):
        return 0 < len(others) < len(cells) - 1 and all(map(_is_number, others))
    return is_subtotal(cells) or (
        len(others) < _MOST_WORDS and _COUNTED.fullmatch(" ".join([first, *others])) is not None
    )


def is_mean(cells: Sequence[str]) -> bool:
    """Tell whether a row says that it is the mean of others."""
    return _MEAN.fullmatch(_told(cells)[0]) is not None and is_total(cells)


def is_subtotal(cells: Sequence[str], above: Container[str] = ()) -> bool:
    """Tell whether a row sums up those of one thing.

    It has gaps where these have cells; or else numbers, if the thing is what rows ``above`` begin
    with.
    """
    first, others = _told(cells)
    if (found := _SUBTOTAL.fullmatch(first)) is None:
        return False
    return 0 < len(others) < len(cells) - 1 or (
        (found["thing"] or "") in above and all(map(_is_number, others))
    )


def is_note(cells: Sequence[str], *, is_apart: bool) -> bool:
    """Tell whether a row is a remark below a table: words in the first cell, and nothing else.

    Of those that a blank line parts from the rows any sentence is one.
    """
    first, others = _told(cells)
    if len(cells) < 3 or others:
        return False
    return bool(_NOTE.fullmatch(first) or (is_apart and _PROSE.fullmatch(first)))


def word_of(cells: Sequence[str]) -> str:
    """Give what a row would say if it summed up others."""
    return _told(cells)[0]


def is_trailer(cells: Sequence[str], before: Sequence[str]) -> bool:
    """Tell whether a row is the record that ends a file, the one ``before`` it being of data."""
    first, above = _kind(cells), _kind(before)
    return first != above and (
        first in _TRAILER or (first in _SHORT_TRAILER and above in _SHORT_DETAIL)
    )


def is_head_record(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether the first row is the record that begins a file: those below are of one kind."""
    kinds = [*map(_kind, rows)]
    below = kinds[1:-1] if len(kinds) > 3 else kinds[1:]
    return kinds[0] in _HEAD and len(below) > 1 and set(below) == {below[0]} != {kinds[0]}


def _kind(cells: Sequence[str]) -> str:
    return cells[0].strip(BLANKS).lower() if cells else ""


def _told(cells: Sequence[str]) -> tuple[str, list[str]]:
    filled = [stripped for cell in cells if (stripped := cell.strip(BLANKS))]
    return (filled[0].lower().rstrip(": "), filled[1:]) if filled else ("", [])


def _is_number(cell: str) -> bool:
    return any(form.matches(cell) for form in formats("."))
