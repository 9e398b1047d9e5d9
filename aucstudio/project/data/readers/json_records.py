"""JSON: one record a line, or a list of records; through DuckDB."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from aucstudio.project.data.readers.format import NAMED_ROWS, Advance, Format, Wish, Written
from aucstudio.project.data.text.numerals import literal

_LONGEST_RECORD = 64_000_000
_RECORD = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"')
_LIST = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\{\s*"')


def _write(path: Path, target: Path, _wish: Wish, tell: Advance) -> Written:
    import glob

    import duckdb

    with path.open("rb") as file:
        is_list = _LIST.match(file.read(1 << 16)) is not None
    if not is_list and (rows := _rows_of_one(path)) is not None:
        path, is_list = target.with_suffix(".rows.json"), True
        path.write_text(json.dumps(rows), encoding="utf-8")
    options = {
        "format": "'array'" if is_list else "'newline_delimited'",
        "sample_size": "-1",
        "maximum_object_size": str(_LONGEST_RECORD),
        # What a text means is found as in every other text file.
        "dateformat": "'-'",
        "timestampformat": "'-'",
        "map_inference_threshold": "-1",
        "compression": "'none'",
    }
    named = ", ".join(f"{name} = {value}" for name, value in options.items())
    with duckdb.connect() as connection:
        tell(0.1)
        source = f"read_json({literal(glob.escape(str(path)))}, {named})"
        described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        # What is now a number and now a text comes in quotation marks else.
        mixed = [
            '"' + name.replace('"', '""') + '"' for name, kind, *_ in described if kind == "JSON"
        ]
        spelled = ", ".join(f"{name} ->> '$' AS {name}" for name in mixed)
        columns = f"* REPLACE ({spelled})" if mixed else "*"
        connection.execute(
            f"COPY (SELECT {columns} FROM {source}) TO {literal(str(target))} (FORMAT csv, HEADER)"
        )
    return Written(known=dict(NAMED_ROWS))


def _rows_of_one(path: Path) -> list[dict[str, Any]] | None:
    """Give the rows of a file that is one object: a list of records in it, or columns."""
    if path.stat().st_size > _LONGEST_RECORD:
        return None
    try:
        whole = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError:
        return None  # a record a line, which the reader judges
    lists = [value for value in whole.values() if isinstance(value, list) and value]
    records = [rows for rows in lists if all(isinstance(row, dict) for row in rows)]
    if len(records) == 1:
        return records[0]
    columns = {
        name: value if isinstance(value, dict) else dict(enumerate(value))
        for name, value in whole.items()
        if isinstance(value, (dict, list))
    }
    if len(columns) < len(whole) or len({tuple(column) for column in columns.values()}) != 1:
        return None
    keys = next(iter(columns.values()))
    return [{name: column[key] for name, column in columns.items()} for key in keys]


def _is_json(_path: Path, head: bytes) -> bool:
    return (_RECORD.match(head) or _LIST.match(head)) is not None


FORMATS = (
    Format(
        key="json",
        title="a JSON file of records",
        plural="JSON records",
        endings=(".json", ".jsonl", ".ndjson"),
        recognises=_is_json,
        write=_write,
        apart=True,
        swelling=1.5,
    ),
)
