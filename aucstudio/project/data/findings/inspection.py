"""Output of ``aucstudio inspect``, as data and text."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from aucstudio.notices import text
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import Column, count_all, spell_cell
from aucstudio.project.data.findings.column_areas import alone
from aucstudio.project.data.findings.find import find, sampled_table
from aucstudio.project.data.import_choices import role_is_guess
from aucstudio.project.data.text.contents import Rejected
from aucstudio.project.data.text.dates import WHOLE

_DIALECT = ("encoding", "delimiter", "decimal", "header")
_LONG = 24  # width of names up to which the following text is aligned


def inspection(table: AnyTable) -> dict[str, Any]:
    """Return the properties and findings of a table as plain data."""
    count_all(column.different for column in table.columns)
    whole = sampled_table(table)
    ranked, is_text = alone(whole), table.format == "csv"
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
                "auc": (one := ranked.get(c.name)) and one.area,
                "auc_by": one and one.by,
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
    columns, shown = document["columns"], set()
    counts = {"rows": document["rows"], "columns": len(columns)}
    yield text("inspect_table", file=document["file"], **counts)
    yield _format_words(document)
    if document["label"] is not None:
        classes = [f"{name} ({count:,})" for name, count in document["classes"].items()]
        label = {"label": document["label"], "positive": document["positive"]}
        yield text("inspect_label", classes=", ".join(classes), **label)
    for finding in document["findings"]:
        shown.add(finding["sentence"])
        yield text("inspect_finding", kind=finding["kind"], sentence=finding["sentence"])
    name, role = (
        max((len(str(column[key])) for column in columns), default=0) for key in ("name", "role")
    )
    for column in columns:
        head = f"{column['name'] + ':':{min(name, _LONG) + 1}} {column['role'] + ',':{role + 1}}"
        yield f"  {head} {_column_words(column)}"
    for note in document["notes"]:
        if note not in shown:
            yield text("inspect_note", note=note)
    for rejected in document["rejected"]:
        yield text("inspect_rejected", where=Rejected(**rejected).where, reason=rejected["reason"])


def _format_words(document: dict[str, Any]) -> str:
    if document["format"] == "csv":
        return text("inspect_csv", **{part: document[part] for part in _DIALECT})
    sheets = ", ".join(map(repr, document.get("sheets", ())))
    sheet = document.get("sheet")
    return text("inspect_format", format=document["format"], sheet=sheet, sheets=sheets)


def _column_words(column: dict[str, Any]) -> str:
    is_date = column["kind"] == "date"
    first, last = (is_date and column["range"]) or (None, None)
    is_whole = column["role"] != "date" or column["parts"] == [WHOLE]
    figures = {name: column[name] for name in ("distinct", "missing", "auc", "auc_by")}
    dates = {"is_date": is_date, "first": first, "last": last}
    parts = None if is_whole else ", ".join(column["parts"])
    return text("inspect_column", **figures, **dates, parts=parts)
