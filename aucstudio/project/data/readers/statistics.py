"""SAS, Stata and SPSS files, through ReadStat.

ReadStat converts only common display formats, and drops whole days of durations: dates, times and
codes are converted here, by the formats in ``formats.toml``.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aucstudio.notices.words import listed
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.readers.columnar import type_of_cells, write_columns
from aucstudio.project.data.readers.conversion import first_parts, spell, typed_rows
from aucstudio.project.data.readers.formats import DECLARED, Advance, ReadOptions, Written
from aucstudio.project.errors import input_error

Convert = Callable[[float], Any]

_MOST_TOLD = 5
# SPSS itself treats columns with at most this many distinct numbers as nominal.
_MOST_CODES = 24
_DAY, _MINUTE = 86_400, 60
_DISPLAYS = DECLARED["display_formats"]


def _writer(package: str, reader: str) -> Callable[[Path, Path, ReadOptions, Advance], Written]:
    def write(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
        import pyreadstat

        encoding = {"encoding": options.encoding} if options.encoding else {}
        cells, about = getattr(pyreadstat, reader)(
            str(path), output_format="dict", disable_datetime_conversion=True, **encoding
        )
        report(0.5)
        names = list(cells)
        if not names or not len(cells[names[0]]):
            raise input_error("no_rows", file=path)
        columns, remarks = _converted_columns(package, cells, about, options.kinds)
        types = [type_of_cells({*map(type, c)} - {type(None)}) for c in columns.values()]
        write_columns(target, names, types, [[*columns.values()]], options)
        texts = tuple(n for n in names if about.readstat_variable_types.get(n) == "string")
        nominal, more = _nominal(package, columns, about, texts)
        return typed_rows(*remarks, *more, roles=dict.fromkeys(nominal, "category"), texts=texts)

    return write


def _converted_columns(
    package: str, cells: Mapping[str, Any], about: Any, kinds: Mapping[str, str]
) -> tuple[dict[str, list[Any]], list[Finding]]:
    """Convert dates and labelled codes; return the columns, and findings about them."""
    columns, remarks, kept = dict[str, list[Any]](), list[Finding](), list[str]()
    for name, given in cells.items():
        values = given.tolist() if hasattr(given, "tolist") else list(given)
        convert = conversion(package, about.original_variable_types.get(name) or "")
        if convert is not None:
            values, beyond = on_calendar(convert, values)
            remarks += [found("format_far_days", name, days=beyond)] if beyond else []
        if labels := about.variable_value_labels.get(name):
            values, is_named = replace_codes(values, labels, kinds.get(name))
            present = () if is_named else {*values} & labels.keys()
            named = [f"{spell(v)} is {labels[v].strip()!r}" for v in labels if v in present]
            kept += [f"{name!r} ({listed(named, _MOST_TOLD)})"] if named else []
        columns[name] = values
    remarks += counted_units(about.original_variable_types)
    if kept and not kinds:
        remarks.append(found("format_some_labels", columns=listed(kept, _MOST_TOLD)))
    return columns, remarks


def _nominal(
    package: str, columns: Mapping[str, Sequence[Any]], about: Any, texts: Collection[str]
) -> tuple[list[str], list[Finding]]:
    """Return the columns of nominal codes, and findings about them."""
    forms = {name: about.original_variable_types.get(name) or "" for name in columns}
    apart = [n for n, form in forms.items() if n not in texts and is_in_catalog(package, form)]
    nominal = [
        name
        for name, values in columns.items()
        if (about.variable_measure.get(name) == "nominal" or name in apart) and _are_codes(values)
    ]
    remarks = []
    if apart:
        shown = [f"{name!r} ({forms[name]})" for name in apart]
        remarks.append(found("format_catalog", columns=listed(shown, _MOST_TOLD)))
    if nominal:
        remarks.append(found("format_nominal", columns=first_parts(nominal)))
    return nominal, remarks


def counted_units(formats: Mapping[str, str]) -> Iterator[Finding]:
    """Report columns that count units of time such as months or quarters, as in Stata."""
    for start, unit in _DISPLAYS["stata"]["counted"].items():
        names = [n for n, form in formats.items() if str(form).replace("-", "").startswith(start)]
        if names:
            yield found("format_units", unit=unit, columns=first_parts(names))


def _are_codes(values: Iterable[Any]) -> bool:
    """Return whether numbers are more than two but few distinct whole ones."""
    present = {value for value in values if value is not None and value == value}
    return 2 < len(present) <= _MOST_CODES and all(
        isinstance(value, (int, float)) and value == int(value) for value in present
    )


def replace_codes(
    values: list[Any], labels: Mapping[Any, str], kind: str | None
) -> tuple[list[Any], bool]:
    """Replace codes by unique labels if every code that occurs has one.

    In a later file, the kind of the training column decides.
    """
    present = {value for value in values if value is not None and value != "" and value == value}
    if kind == "number" or (kind is None and not present <= labels.keys()):
        return values, False
    stripped = {value: name.strip() for value, name in labels.items()}
    known = list(stripped.values())
    names = {
        value: name if known.count(name) == 1 else f"{name} ({value})"
        for value, name in stripped.items()
    }
    return [names.get(value, value) for value in values], True


def conversion(package: str, form: str) -> Convert | None:
    """Return the conversion of a column to dates, times or codes; None for plain numbers.

    Parameters
    ----------
    package : {"sas", "stata", "spss"}
    form : str
        The format of the column.
    """
    about = _DISPLAYS[package]
    if code := re.fullmatch(about["codes"], form if package == "stata" else form.upper()):
        width = int(code[1])
        return lambda value: f"{int(value):0{width}}" if value >= 0 and value % 1 == 0 else value
    bare = _bare(package, form)
    for kind in ("clock", "moment", "time", "day"):
        if kind in about and re.fullmatch(about[kind], bare):
            unit = about["units"][kind]
            return lambda value: _converted(value * unit, kind, about["start"])
    return None


def _bare(package: str, form: str) -> str:
    return form if package == "stata" else re.sub(r"[\d.]*$", "", form.upper())


def is_in_catalog(package: str, form: str) -> bool:
    """Return whether the value labels of a column are in a SAS catalog, a separate file."""
    return (
        package == "sas"
        and re.fullmatch(_DISPLAYS["sas"]["numbers"], _bare(package, form)) is None
        and conversion(package, form) is None
    )


def _converted(seconds: float, kind: str, start: datetime.datetime) -> Any:
    """Return what a number of seconds stands for; a clock is the time of day of a moment."""
    if kind in ("time", "clock"):
        return _clock(seconds % _DAY if kind == "clock" else seconds)
    moment = start + datetime.timedelta(seconds=seconds)
    return moment.date() if kind == "day" else moment


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


write_sas = _writer("sas", "read_sas7bdat")
write_sas_transport = _writer("sas", "read_xport")
write_stata = _writer("stata", "read_dta")
write_spss = _writer("spss", "read_sav")
write_spss_portable = _writer("spss", "read_por")
