"""Display formats of SAS, Stata and SPSS: dates, times, codes.

ReadStat converts only common formats, and drops whole days of durations.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

Convert = Callable[[float], Any]

_DAY, _MINUTE = 86_400, 60
_STARTS = {
    "sas": datetime.datetime(1960, 1, 1),
    "stata": datetime.datetime(1960, 1, 1),
    "spss": datetime.datetime(1582, 10, 14),
}
# By package: meaning ("clock" is the time of day of a moment), seconds of a unit, and the names of
# formats without widths.
_FORMATS: Mapping[str, tuple[tuple[str, float, re.Pattern[str]], ...]] = {
    "stata": (
        ("day", _DAY, re.compile("%-?(?:td|d).*")),
        ("clock", 0.001, re.compile("%-?t[cC][hH]H:MM(?::SS)?")),
        ("moment", 0.001, re.compile("%-?t[cC].*")),
    ),
    "spss": (
        ("moment", 1, re.compile("DATETIME|YMDHMS")),
        ("day", 1, re.compile("[AEJS]?DATE|QYR|MOYR|WKYR")),
        ("time", 1, re.compile("[DM]?TIME")),
    ),
    "sas": (
        (
            "moment",
            1,
            re.compile(
                "DATETIME|DATEAMPM|MDYAMPM|DT(?:DATE|MONYY|YEAR|WKDATX|YYQC)|EURDFDT|NLDATM.*|"
                "(?:E|B|IS)8601(?:D[NTXZ]|LX)"
            ),
        ),
        ("clock", 1, re.compile("TOD")),
        ("time", 1, re.compile("TIME(?:AMPM)?|HHMM|HOUR|MMSS|NLTIM.*|(?:E|B|IS)8601(?:T[MXZ]|LZ)")),
        (
            "day",
            _DAY,
            re.compile(
                "DATE|(?:DDMMYY|MMDDYY|YYMMDD|MMYY|YYMM|YYQR?)[BCDNPS]?|YYMON|MONYY|YEAR|MONTH|"
                "QTRR?|DAY|WEEKDAY|MONNAME|DOWNAME|WORDDAT[EX]|WEEKDAT[EX]|JULIAN|JULDAY|"
                "EURDF(?:DD|DE|DN|DWN|MN|MY|WDX|WKX)|NLDATE.*|(?:E|B|IS)8601DA"
            ),
        ),
    ),
}


# Formats of codes with leading zeros; two digits are used for months and hours.
_CODES = {
    "stata": re.compile(r"%-?0([3-9]|1[0-9])\.0f"),
    "spss": re.compile("N([3-9]|1[0-9])"),
    "sas": re.compile(r"Z([3-9]|1[0-9])\.?"),
}
# Built-in number formats of SAS; others are defined in a catalog.
_OF_SAS = re.compile(
    "|BEST.*|[DEFZ]|(?:COMMA|DOLLAR|EURO|PERCENT|NL|IB|PIB|RB|S370|HEX|BINARY|OCTAL).*|NUMX|FRACT|"
    "NEGPAREN|PD|PK|ZD|SSN|ROMAN|WORD[FS]|YEN|PVALUE|ODDSR|FLOAT|BITS|SIZEK(?:MG)?|VAXRB"
)


def conversion(package: str, form: str) -> Convert | None:
    """Return the conversion of a column to dates, times or codes; None for plain numbers.

    Parameters
    ----------
    package : {"sas", "stata", "spss"}
    form : str
        The format of the column.
    """
    if code := _CODES[package].fullmatch(form.upper() if package != "stata" else form):
        width = int(code[1])
        return lambda value: f"{int(value):0{width}}" if value >= 0 and value % 1 == 0 else value
    bare = _bare(package, form)
    for kind, unit, pattern in _FORMATS[package]:
        if pattern.fullmatch(bare):
            return _converted(kind, unit, _STARTS[package])
    return None


def _bare(package: str, form: str) -> str:
    return form if package == "stata" else re.sub(r"[\d.]*$", "", form.upper())


def is_in_catalog(package: str, form: str) -> bool:
    """Return whether the value labels of a column are in a SAS catalog, a separate file."""
    return (
        package == "sas"
        and _OF_SAS.fullmatch(_bare(package, form)) is None
        and conversion(package, form) is None
    )


def _converted(kind: str, unit: float, start: datetime.datetime) -> Convert:
    def convert(value: float) -> Any:
        if kind in ("time", "clock"):
            return _clock(value * unit % _DAY if kind == "clock" else value * unit)
        moment = start + datetime.timedelta(seconds=value * unit)
        return moment.date() if kind == "day" else moment

    return convert


def _clock(seconds: float) -> str:
    """Write a time of day or a duration."""
    whole = math.floor(abs(seconds))
    rest = f"{abs(seconds) - whole:.6f}"[1:].rstrip("0").rstrip(".")
    hours, minutes = divmod(whole // _MINUTE, _MINUTE)
    sign = "-" if seconds < 0 else ""
    return f"{sign}{hours:02}:{minutes:02}:{whole % _MINUTE:02}{rest}"


def on_calendar(convert: Convert, values: list[Any]) -> tuple[list[Any], int]:
    """Convert a column; return it and the count of days outside the calendar, kept as numbers."""
    beyond, made = 0, []
    for value in values:
        known = isinstance(value, (int, float)) and value == value
        try:
            made.append(convert(value) if known else value)
        except (OverflowError, ValueError):
            made.append(value)
            beyond += 1
    return made, beyond
