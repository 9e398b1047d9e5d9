"""Output of ``aucstudio inspect``, as data and text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import Column, spell_cell
from aucstudio.project.data.findings.find import find, in_memory
from aucstudio.project.data.findings.separation import areas
from aucstudio.project.data.import_choices import role_is_guess
from aucstudio.project.data.text.dates import WHOLE

_DIALECT = ("encoding", "delimiter", "decimal", "header")
_LONG = 24  # width of names up to which the following text is aligned


def inspection(table: AnyTable) -> dict[str, Any]:
    """Return the properties and findings of a table as plain data."""
    whole = in_memory(table)
    by_itself, is_text = areas(whole), table.format == "csv"
    return {
        "file": str(table.path),
        "format": table.format,
        **({"sheet": table.dialect.sheet, "sheets": list(table.sheets)} if table.sheets else {}),
        **{name: getattr(table.dialect, name) if is_text else None for name in _DIALECT},
        "rows": table.rows,
        "rejected": [dataclasses.asdict(rejected) for rejected in table.rejected],
        "rejected_rows": table.rejected_rows,
        "columns": [
            {
                "name": c.name,
                "role": "date" if c.is_date and c.role == "number" else c.role,
                "kind": "date" if c.is_date else c.kind,
                "guessed": role_is_guess(table, c),
                "reason": c.reason,
                "missing": c.missing,
                "distinct": c.distinct,
                "auc": by_itself.get(c.name),
                **(_dates_of(whole.column(c.name)) if c.is_date else {}),
            }
            for c in table.columns
        ],
        "label": table.label,
        "classes": dict(table.classes),
        "positive": table.positive,
        "unlabelled": table.unlabelled,
        "notes": list(table.notes),
        "notices": [notice.notice() for notice in table.notices],
        "findings": [finding.as_json() for finding in find(table, cells=whole)],
    }


def _dates_of(column: Column) -> dict[str, Any]:
    """Return the first and the last date of a column, and its used parts."""
    known = column.values[column.known()]
    ends = [spell_cell(column, end) for end in (known.min(), known.max())] if len(known) else []
    return {"range": ends, "parts": list(column.parts or (WHOLE,))}


def inspection_lines(document: dict[str, Any]) -> Iterator[str]:
    """Format the document of :func:`inspection` as lines of text, findings first."""
    yield f"{document['file']}: {document['rows']:,} rows, {len(document['columns']):,} columns"
    yield _format_words(document)
    if document["label"] is not None:
        yield _label_words(document)
    shown = set()
    for finding in document["findings"]:
        shown.add(finding["sentence"])
        yield f"finding ({finding['kind']}): {finding['sentence']}"
    name, role = (
        max((len(str(column[key])) for column in document["columns"]), default=0)
        for key in ("name", "role")
    )
    for column in document["columns"]:
        yield f"  {column['name'] + ':':{min(name, _LONG) + 1}} {_column_words(column, role)}"
    for note in document["notes"]:
        if note not in shown:
            yield f"note: {note}"
    for rejected in document["rejected"]:
        yield f"rejected line {rejected['line']}: {rejected['reason']}"


def _format_words(document: dict[str, Any]) -> str:
    if document["format"] != "csv":
        sheets = ", ".join(map(repr, document.get("sheets", ())))
        form = str(document["format"])
        return f"{form}, {document['sheet']!r} of {sheets}" if sheets else form
    return (
        f"csv, {document['encoding']}, delimiter {document['delimiter']!r}, decimal "
        f"{document['decimal']!r}, {'a' if document['header'] else 'no'} header row"
    )


def _label_words(document: dict[str, Any]) -> str:
    classes = ", ".join(f"{name} ({count:,})" for name, count in document["classes"].items())
    positive = document["positive"] or "not chosen"
    return f"label {document['label']}: {classes}; positive {positive}"


def _column_words(column: dict[str, Any], width: int) -> str:
    area = "" if column["auc"] is None else f", AUC alone {column['auc']:.3f}"
    words = f"{column['distinct']:,} distinct, {column['missing']:,} missing{area}"
    if column["kind"] == "date":
        words = f"{words}{_date_words(column)}"
    return f"{column['role'] + ',':{width + 1}} {words}"


def _date_words(column: dict[str, Any]) -> str:
    ends = " to ".join(column["range"])
    dates = f", dates {ends}" if ends else ", dates"
    is_whole = column["parts"] == [WHOLE] or column["role"] != "date"
    return dates if is_whole else f"{dates}, used as {', '.join(column['parts'])}"
