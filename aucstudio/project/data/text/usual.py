"""Usual spellings of dates and numbers, which DuckDB reads by itself in a tenth of the time.

They are part of what a layout or a format allows, and come to the same numbers bit for bit; an
expression is NULL where a cell is spelled in another way, and empty where there is no usual one.
"""

from __future__ import annotations

import re

from aucstudio.project.data.text.dates import CLOCK, ISO

_DAY = "[1-9][0-9]{3}(?:-[01][0-9]-|/[01][0-9]/)[0-3][0-9]"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?"
# By layout: what stands beside what, the marks between, and the times that may follow.
_CLOCKS = ("", " %H:%M", " %H:%M:%S")
_SPELLED = {
    "d.m.y": ("%d{0}%m{0}%Y", ("/", "-", "."), _CLOCKS),
    "m/d/y": ("%m{0}%d{0}%Y", ("/", "-", "."), _CLOCKS),
    "d mon y": ("%d{0}%b{0}%Y", ("-", " ", "/"), _CLOCKS),
    "mon d y": ("%b %d{0} %Y", (",", ""), _CLOCKS),
    "y-m": ("%Y{0}%m", ("-", "/"), ("",)),
}
_SHAPES = {
    "%Y": "[1-9][0-9]{3}",
    "%m": "[01]?[0-9]",
    "%b": "[A-Za-z]{3}",
    "%d": "[0-3]?[0-9]",
    "%H": "[0-2]?[0-9]",
    "%M": "[0-5][0-9]",
    "%S": "[0-5][0-9]",
}


def usual_date(cell: str, layout: str) -> str:
    """Write the expression of dates and times: see :mod:`~aucstudio.project.data.text.dates`."""
    if layout == ISO:
        days = f"(try_cast(({cell})[1:10] AS DATE) - DATE '1970-01-01')::DOUBLE"
        time = f"{days} * 86400.0::DOUBLE + ({_seconds(cell, 12)})"
        ways = {_DAY: days, f"{_DAY}[ Tt]{_TIME}": f"({time}) / 86400.0::DOUBLE"}
    elif layout == CLOCK:
        ways = {_TIME: f"({_seconds(cell, 1)}) / 3600.0::DOUBLE"}
    elif layout == "ymd":
        ways = {"(?:19|20)[0-9]{6}": _days(cell, ["%Y%m%d"])}
    elif layout in _SPELLED:
        spelled, marks, clocks = _SPELLED[layout]
        formats = [spelled.format(mark) + clock for clock in clocks for mark in marks]
        escaped = "|".join(formats).replace(".", "[.]")
        ways = {re.sub("%.", lambda part: _SHAPES[part[0]], escaped): _days(cell, formats)}
    else:
        return ""
    return _by_shape(cell, ways)


def _days(cell: str, formats: list[str]) -> str:
    listed = ", ".join(f"'{one}'" for one in formats)
    return f"epoch(try_strptime({cell}, [{listed}])) / 86400.0::DOUBLE"


def _seconds(cell: str, start: int) -> str:
    """Write those of a time of day that begins at a character, as dates are computed."""
    hours, minutes = (f"({cell})[{k}:{k + 1}]::BIGINT" for k in (start, start + 3))
    whole = f"({hours} * 3600 + {minutes} * 60)::DOUBLE"
    return f"{whole} + coalesce(try_cast(({cell})[{start + 6}:] AS DOUBLE), 0.0::DOUBLE)"


def usual_number(
    cell: str, decimal: str, marks: str, affix: str, *, behind: bool, dressed: bool
) -> str:
    """Write the expression of numbers: 1,234.5, -$12, 3 %, (45).

    Parameters
    ----------
    cell : str
    decimal, marks : str
        The decimal mark, and those that may part thousands.
    affix : str
        What may stand beside, or must where it comes ``behind``.
    behind, dressed : bool
        ``dressed`` numbers may stand in brackets.
    """
    unit, group = re.escape(affix), f"[{re.escape(marks)}]"
    number = f"(?:[0-9]{{1,15}}|[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+)"
    number += f"(?:{re.escape(decimal)}[0-9]+)?"
    before, after = (f"(?:{unit} ?)?", f"(?: ?{unit})?") if affix else ("", "")
    if behind:
        before, after = "", f" ?{unit}"
    bare = f"replace({cell}, {_quoted(affix)}, '')" if affix else cell
    bare = f"translate({bare}, {_quoted(marks + ' ()')}, '')"
    read = f"try_cast(replace({bare}, '{decimal}', '.') AS DOUBLE)"
    ways = {f"[+-]?{before}{number}{after}": read}
    if dressed:
        ways[rf"\({before}{number}{after}\)"] = f"-{read}"
    return _by_shape(cell, ways)


def _by_shape(cell: str, ways: dict[str, str]) -> str:
    cases = (
        f"WHEN regexp_full_match({cell}, {_quoted(shape)}) THEN {read}"
        for shape, read in ways.items()
    )
    return f"CASE {' '.join(cases)} END"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
