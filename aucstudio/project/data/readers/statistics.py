"""SAS, Stata and SPSS files, through ReadStat."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aucstudio.notices.words import listed
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.readers.format import (
    NAMED_ROWS,
    Advance,
    ReadOptions,
    Written,
)
from aucstudio.project.data.readers.rows import RowWriter, first_parts, spell
from aucstudio.project.errors import input_error

_REPORT_EVERY = 5_000
_MOST_TOLD = 5
# SPSS itself treats columns with at most this many distinct numbers as nominal.
_MOST_CODES = 24
_STATA_UNITS = {
    "%tw": "weeks since the first of 1960",
    "%tm": "months since 1960-01",
    "%tq": "quarters since the first of 1960",
    "%th": "half-years since the first of 1960",
    "%tb": "days of a business calendar",
}


def _write(package: str, reader: str) -> Callable[[Path, Path, ReadOptions, Advance], Written]:
    def write(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
        import pyreadstat

        encoding = {"encoding": options.encoding} if options.encoding else {}
        # The library's conversion of dates drops whole days of durations.
        cells, about = getattr(pyreadstat, reader)(
            str(path), output_format="dict", disable_datetime_conversion=True, **encoding
        )
        report(0.5)
        names = list(cells)
        if not names or not len(cells[names[0]]):
            raise input_error("no_rows", file=path)
        columns, remarks = _converted(package, cells, about, options.kinds)
        _write_rows(target, names, list(columns.values()), report)
        texts = tuple(n for n in names if about.readstat_variable_types.get(n) == "string")
        nominal, more = _nominal(package, columns, about, texts)
        return Written(
            known=dict(NAMED_ROWS),
            remarks=(*remarks, *more),
            roles=dict.fromkeys(nominal, "category"),
            texts=texts,
        )

    return write


def _converted(
    package: str, cells: Mapping[str, Any], about: Any, kinds: Mapping[str, str]
) -> tuple[dict[str, list[Any]], list[Finding]]:
    """Convert dates and labelled codes; return the columns, and findings about them."""
    from aucstudio.project.data.readers.statistics_formats import (
        conversion,
        on_calendar,
    )

    columns, remarks, kept = dict[str, list[Any]](), list[Finding](), list[str]()
    for name, given in cells.items():
        values = given.tolist() if hasattr(given, "tolist") else list(given)
        convert = conversion(package, about.original_variable_types.get(name) or "")
        if convert is not None:
            values, beyond = on_calendar(convert, values)
            remarks += [found("format_far_days", name, days=beyond)] if beyond else []
        labels = about.variable_value_labels.get(name)
        if labels:
            values, named = _labelled(values, labels, kinds.get(name))
            shown = "" if named else _named({*values} & labels.keys(), labels)
            kept += [f"{name!r} ({shown})"] if shown else []
        columns[name] = values
    remarks += _counted(about.original_variable_types)
    if kept and not kinds:
        remarks.append(found("format_some_labels", columns=listed(kept, _MOST_TOLD)))
    return columns, remarks


def _write_rows(
    target: Path, names: Sequence[str], columns: Sequence[Sequence[Any]], report: Advance
) -> None:
    with RowWriter(target) as out:
        out.add(names)
        for count, row in enumerate(zip(*columns, strict=True)):
            out.add_data(row)
            if count % _REPORT_EVERY == 0:
                report(0.5 + 0.5 * count / len(columns[0]))


def _nominal(
    package: str, columns: Mapping[str, Sequence[Any]], about: Any, texts: Collection[str]
) -> tuple[list[str], list[Finding]]:
    """Return the columns of nominal codes, and findings about them."""
    from aucstudio.project.data.readers.statistics_formats import is_in_catalog

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


def _counted(formats: Mapping[str, str]) -> Iterator[Finding]:
    """Report columns that count units of time such as months or quarters, as in Stata."""
    for start, unit in _STATA_UNITS.items():
        names = [
            name for name, form in formats.items() if str(form).replace("-", "").startswith(start)
        ]
        if names:
            yield found("format_units", unit=unit, columns=first_parts(names))


def _named(present: Collection[Any], labels: Mapping[Any, str]) -> str:
    """Write which values have labels, and the labels."""
    listed = [f"{spell(v)} is {labels[v].strip()!r}" for v in labels if v in present]
    return ", ".join(listed[:_MOST_TOLD]) + (", ..." if len(listed) > _MOST_TOLD else "")


def _are_codes(values: Iterable[Any]) -> bool:
    """Return whether numbers are more than two but few distinct whole ones."""
    present = {value for value in values if value is not None and value == value}
    return 2 < len(present) <= _MOST_CODES and all(
        isinstance(value, (int, float)) and value == int(value) for value in present
    )


def _labelled(
    values: list[Any], labels: Mapping[Any, str], kind: str | None
) -> tuple[list[Any], bool]:
    """Replace codes by labels if every code that occurs has one.

    In a later file, the kind of the training column decides.
    """
    names = _distinct(labels)
    present = {value for value in values if value is not None and value != "" and value == value}
    if kind == "number" or (kind is None and not present <= names.keys()):
        return values, False
    return [names.get(value, value) for value in values], True


def _distinct(labels: Mapping[Any, str]) -> dict[Any, str]:
    """Make the labels of values unique."""
    counts: dict[str, int] = {}
    for name in labels.values():
        counts[name.strip()] = counts.get(name.strip(), 0) + 1
    return {
        value: name.strip() if counts[name.strip()] == 1 else f"{name.strip()} ({value})"
        for value, name in labels.items()
    }


write_sas = _write("sas", "read_sas7bdat")
write_sas_transport = _write("sas", "read_xport")
write_stata = _write("stata", "read_dta")
write_spss = _write("spss", "read_sav")
write_spss_portable = _write("spss", "read_por")
