"""Files of SAS, Stata and SPSS, through ReadStat."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from aucstudio.project.data.readers.format import (
    NAMED_ROWS,
    Advance,
    Format,
    Wish,
    Written,
    begins,
)
from aucstudio.project.data.readers.rows import RowWriter, first_parts, spell
from aucstudio.project.errors import InputError

_SAS = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
_TELL_EVERY = 5_000
_MOST_TOLD = 5
# As SPSS itself takes columns of so few different numbers for nominal ones.
_MOST_CODES = 24
_STATA_UNITS = {
    "%tw": "weeks since the first of 1960",
    "%tm": "months since 1960-01",
    "%tq": "quarters since the first of 1960",
    "%th": "half-years since the first of 1960",
    "%tb": "days of a business calendar",
}
# Before Stata 13 a file begins with its version, the order of bytes, and 1.
_STATA_VERSIONS = bytes([104, 105, 108, 110, 111, 112, 113, 114, 115])
_STATA_ORDERS = b"\1\2"


def _write(package: str, reader: str) -> Callable[[Path, Path, Wish, Advance], Written]:
    def write(path: Path, target: Path, wish: Wish, tell: Advance) -> Written:
        import pyreadstat

        from aucstudio.project.data.readers.statistics_formats import (
            conversion,
            is_in_catalog,
            note_of_beyond,
            on_calendar,
        )

        said = {"encoding": wish.encoding} if wish.encoding else {}
        # Its own conversion of days and times takes whole days off durations.
        cells, about = getattr(pyreadstat, reader)(
            str(path), output_format="dict", disable_datetime_conversion=True, **said
        )
        notes: list[str] = []
        tell(0.5)
        names = list(cells)
        if not names or not len(cells[names[0]]):
            raise InputError(f"{path} has no rows; choose a file with data", file=str(path))
        columns, kept = [], []
        for name in names:
            values = _plain(cells[name])
            form = about.original_variable_types.get(name) or ""
            convert = conversion(package, form)
            if convert is not None:
                values, beyond = on_calendar(convert, values)
                notes += [note_of_beyond(name, beyond)] * (beyond > 0)
            labels = about.variable_value_labels.get(name)
            if labels:
                values, named = _labelled(values, labels, wish.kinds.get(name))
                told = "" if named else _named({*values} & labels.keys(), labels)
                kept += [f"{name!r} ({told})"] if told else []
            columns.append(values)
        with RowWriter(target) as out:
            out.add(names)
            for count, row in enumerate(zip(*columns, strict=True)):
                out.add_data(row)
                if count % _TELL_EVERY == 0:
                    tell(0.5 + 0.5 * count / len(columns[0]))
        kinds = about.readstat_variable_types
        notes += _counted(about.original_variable_types)
        if kept and not wish.kinds:
            notes.append(
                "columns with names for some of their values only are read as numbers: "
                + ", ".join(kept[:_MOST_TOLD])
                + (f" and {len(kept) - _MOST_TOLD} more" if len(kept) > _MOST_TOLD else "")
            )
        forms = {name: about.original_variable_types.get(name) or "" for name in names}
        apart = [
            name
            for name in names
            if kinds.get(name) != "string" and is_in_catalog(package, forms[name])
        ]
        nominal = [
            name
            for name, values in zip(names, columns, strict=True)
            if (about.variable_measure.get(name) == "nominal" or name in apart)
            and _are_codes(values)
        ]
        if apart:
            notes.append(
                "names of values are not in this file, but in a catalog of SAS: "
                + ", ".join(f"{name!r} ({forms[name]})" for name in apart[:_MOST_TOLD])
            )
        if nominal:
            notes.append(f"columns of nominal codes are categories: {first_parts(nominal)}")
        return Written(
            known=dict(NAMED_ROWS),
            notes=tuple(notes),
            roles=dict.fromkeys(nominal, "category"),
            texts=tuple(name for name in names if kinds.get(name) == "string"),
        )

    return write


def _counted(formats: Mapping[str, str]) -> Iterator[str]:
    """Say which columns count months or quarters, as Stata does."""
    for start, unit in _STATA_UNITS.items():
        names = [
            name for name, form in formats.items() if str(form).replace("-", "").startswith(start)
        ]
        if names:
            yield f"columns that count {unit} are read as these numbers: {first_parts(names)}"


def _named(present: Collection[Any], labels: Mapping[Any, str]) -> str:
    """Write which of some values have names, and which."""
    listed = [f"{spell(v)} is {labels[v].strip()!r}" for v in labels if v in present]
    return ", ".join(listed[:_MOST_TOLD]) + (", ..." if len(listed) > _MOST_TOLD else "")


def _are_codes(values: Iterable[Any]) -> bool:
    """Tell whether numbers are few whole ones, but more than the two that need no category."""
    present = {value for value in values if value is not None and value == value}
    return 2 < len(present) <= _MOST_CODES and all(
        isinstance(value, (int, float)) and value == int(value) for value in present
    )


def _plain(values: Any) -> list[Any]:
    """Give a column as Python's own values."""
    listed: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    return listed


def _labelled(
    values: list[Any], labels: Mapping[Any, str], kind: str | None
) -> tuple[list[Any], bool]:
    """Put names in the place of codes, if every code that occurs has one.

    What a later file holds is known: there each cell is named, or none is.
    """
    names = _distinct(labels)
    present = {value for value in values if value is not None and value != "" and value == value}
    if kind == "number" or (kind is None and not present <= names.keys()):
        return values, False
    return [names.get(value, value) for value in values], True


def _distinct(labels: Mapping[Any, str]) -> dict[Any, str]:
    """Keep values apart that have the same name."""
    counts: dict[str, int] = {}
    for name in labels.values():
        counts[name.strip()] = counts.get(name.strip(), 0) + 1
    return {
        value: name.strip() if counts[name.strip()] == 1 else f"{name.strip()} ({value})"
        for value, name in labels.items()
    }


def _is_stata(path: Path, head: bytes) -> bool:
    if head.startswith(b"<stata_dta>"):
        return True
    old = len(head) > 4 and head[0] in _STATA_VERSIONS and head[1] in _STATA_ORDERS
    return old and head[2] == 1 and path.suffix.lower() == ".dta"


def _is_portable(_path: Path, head: bytes) -> bool:
    return b"SPSS PORT FILE" in head[:500]


def _format(
    key: str, title: str, plural: str, endings: tuple[str, ...], recognises: Any, reader: str
) -> Format:
    return Format(
        key=key,
        title=title,
        plural=plural,
        endings=endings,
        recognises=recognises,
        write=_write(key.split("-")[0], reader),
        encodings=True,
        swelling=3.0,
    )


FORMATS = (
    _format("sas", "a SAS table", "SAS tables", (".sas7bdat",), begins(_SAS), "read_sas7bdat"),
    _format(
        "sas-transport",
        "a SAS transport file",
        "SAS tables",
        (".xpt", ".xport"),
        begins(b"HEADER RECORD*******LIB"),
        "read_xport",
    ),
    _format("stata", "a Stata file", "Stata files", (".dta",), _is_stata, "read_dta"),
    _format(
        "spss",
        "an SPSS file",
        "SPSS files",
        (".sav", ".zsav"),
        begins(b"$FL2", b"$FL3"),
        "read_sav",
    ),
    _format(
        "spss-portable", "an SPSS portable file", "SPSS files", (".por",), _is_portable, "read_por"
    ),
)
