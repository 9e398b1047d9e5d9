"""JSON records, through DuckDB."""

from __future__ import annotations

import codecs
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from aucstudio.notices.words import listed
from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.input_files import (
    LONGEST_CELL,
    MOST_DEPTH,
    duckdb_on,
    linked,
    literal,
    refuse_columns,
)
from aucstudio.project.data.readers.columnar import copy_as_parquet
from aucstudio.project.data.readers.conversion import WIDE, about_parts, pick_part, typed_rows
from aucstudio.project.data.readers.formats import Advance, ReadOptions, Written
from aucstudio.project.errors import input_error

_Rows = list[dict[str, Any]]

_LONGEST_RECORD = LONGEST_CELL
_PIECE, _MOST_CHECKED = 1 << 20, 1 << 26
_KEY = re.compile(rb'"((?:[^"\\]|\\.)*+)"\s*+:', re.S)
_TEXT = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z)', re.S)
_OPENS, _CLOSES = np.frombuffer(b"[{", dtype=np.uint8), np.frombuffer(b"]}", dtype=np.uint8)
# Most levels of nested records that become columns.
_DEEPEST = 4
# Keys for names in descriptions of columns.
_NAMES = ("name", "id", "fieldName", "field", "key")
# Most left-out lines that are listed.
_SHOWN = 20
# Indented records, or several on a line, may follow each other without a list.
_LOOSE = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{(?:\r?\n|"[^\n]*\}[ \t]*\{[ \t]*")')
_LISTS = re.compile(r"\][ \t\r]*\n\s*\[")
_LIST = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\{\s*"')


def write(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    import duckdb

    _check(path)
    with path.open("rb") as file:
        head = file.read(1 << 16)
    is_list = _LIST.match(head) is not None
    if head.startswith(codecs.BOM_UTF8):
        path = _without_mark(path, target.with_suffix(".bare.json"))
    part, parts, remarks = "", tuple[str, ...](), list[Finding]()
    if not is_list and (tables := _tables_of_one(path)):
        if len(tables) > 1:
            parts = tuple(tables)
            part = pick_part(
                path, "list", parts, options, lambda _name: True, lambda n: len(tables[n][0]) < WIDE
            )
        rows = tables[part or next(iter(tables))]
        if [*rows[0]] == _numbered(len(rows[0])):
            remarks = [found("format_no_field_names", count=len(rows[0]))]
        path, is_list = target.with_suffix(".rows.json"), True
        path.write_text(json.dumps(rows), encoding="utf-8")
    report(0.1)
    remarks += about_parts("list", part, parts)
    try:
        loose = "unstructured" if _LOOSE.match(head) else "newline_delimited"
        layout = "array" if is_list else loose
        _copy(path, target, layout, options)
    except duckdb.Error:
        sound = target.with_suffix(".sound.json")
        left_out = () if is_list or options.strict else _without_damaged(path, sound)
        if not left_out:
            raise
        lines = listed([f"{line:,}" for line in left_out], _SHOWN)
        remarks = [found("json_lines_left_out", rows=len(left_out), lines=lines)]
        _copy(sound, target, "newline_delimited", options)
    return typed_rows(*remarks, part=part, parts=parts)


def _check(path: Path) -> None:
    """Raise InputError for too many columns or too deeply nested records.

    DuckDB would take minutes for these. Keys are counted in the first part of a long file only.

    Raises
    ------
    InputError
    """
    keys, depth, deepest = set[bytes](), 0, 0
    with path.open("rb") as file:
        for _ in range(_MOST_CHECKED // _PIECE):
            # A key or text cut at the end of a piece makes little difference.
            piece = file.read(_PIECE)
            if not piece:
                break
            keys.update(_KEY.findall(piece))
            refuse_columns(path, len(keys))
            marks = np.frombuffer(_TEXT.sub(b"", piece), dtype=np.uint8)
            steps = np.isin(marks, _OPENS).astype(np.int64) - np.isin(marks, _CLOSES)
            if len(steps):
                levels = depth + np.cumsum(steps)
                depth, deepest = max(0, int(levels[-1])), max(deepest, int(levels.max()))
            if deepest > MOST_DEPTH:
                raise input_error("nested_too_deeply", file=path, depth=MOST_DEPTH)


def _copy(path: Path, target: Path, layout: str, options: ReadOptions) -> None:
    """Convert records to Parquet; records in records stay nested."""
    settings = {
        "format": literal(layout),
        "sample_size": "-1",
        "maximum_object_size": str(_LONGEST_RECORD),
        # Dates are detected as in every text file.
        "dateformat": "'-'",
        "timestampformat": "'-'",
        "map_inference_threshold": "-1",
        "compression": "'none'",
    }
    named = ", ".join(f"{name} = {value}" for name, value in settings.items())
    # A link, because DuckDB takes a name for a pattern.
    plain = linked(path, target.parent)
    with duckdb_on(target.parent, path) as connection:
        query = f"FROM read_json({literal(str(plain))}, {named})"
        copy_as_parquet(connection, query, target, options)


def _without_damaged(path: Path, target: Path) -> tuple[int, ...]:
    """Copy the lines that are records; return the numbers of the others if they are fewer."""
    left_out, kept = [], 0
    with path.open("rb") as file, target.open("wb") as copy:
        for number, line in enumerate(file, 1):
            if _is_record_line(line):
                copy.write(line.removesuffix(b"\n") + b"\n")
                kept += 1
            elif line.strip():
                left_out.append(number)
    return tuple(left_out) if len(left_out) < kept else ()


def _is_record_line(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _without_mark(path: Path, target: Path) -> Path:
    """Copy a file without its byte-order mark."""
    with path.open("rb") as file, target.open("wb") as copy:
        file.seek(len(codecs.BOM_UTF8))
        shutil.copyfileobj(file, copy)
    return target


def _tables_of_one(path: Path) -> dict[str, _Rows]:
    """Return the tables by name if the file is one JSON value, else an empty dict."""
    if path.stat().st_size > _LONGEST_RECORD:
        return {}
    # Lists, one a line, are items of a list.
    text, lists = _LISTS.subn("],[", path.read_text(encoding="utf-8-sig"))
    try:
        whole = json.loads(f"[{text}]" if lists else text)
    except ValueError:
        return {}  # one record per line
    tables = _lists_of_records(whole) if isinstance(whole, dict) else {}
    rows = _described(whole, tables) if tables else _rows_of_one(whole)
    if tables and rows is None:
        return tables
    return {} if rows is None else {"": rows}


def _lists_of_records(whole: Mapping[str, Any], depth: int = 1) -> dict[str, _Rows]:
    """Return the lists of records in an object or in nested objects, by name."""
    found = {
        name: value
        for name, value in whole.items()
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value)
    }
    inner = {name: value for name, value in whole.items() if isinstance(value, dict)}
    # Objects with equal keys are records themselves.
    alike = len(inner) > 1 and len({tuple(value) for value in inner.values()}) == 1
    if found or alike or depth == _DEEPEST:
        return found
    return {
        f"{name}.{own}": rows
        for name, value in inner.items()
        for own, rows in _lists_of_records(value, depth + 1).items()
    }


def _described(whole: Mapping[str, Any], tables: Mapping[str, _Rows]) -> _Rows | None:
    """Return rows without keys if a list of records elsewhere names their columns."""
    lists = [value for value in whole.values() if isinstance(value, list) and value]
    names = [
        [record.get(key) for record in records]
        for records in tables.values()
        for key in _NAMES
        if all(isinstance(record.get(key), str) for record in records)
    ]
    return next(filter(None, (_named_rows([one, *lists]) for one in names)), None)


def _rows_of_one(whole: Any) -> _Rows | None:
    """Return the rows of an object of columns or of named records, or of a list of lists.

    The first item of a list may be the names.
    """
    if isinstance(whole, list):
        unnamed = [_numbered(len(whole[0])), whole]
        return _named_rows([whole[0], whole[1:]]) or _named_rows(unnamed)
    lists = [value for value in whole.values() if isinstance(value, list) and value]
    if (rows := _named_rows(lists)) is not None:
        return rows
    columns: dict[str, dict[Any, Any]] = {
        name: value if isinstance(value, dict) else dict(enumerate(value))
        for name, value in whole.items()
        if isinstance(value, (dict, list))
    }
    if len(columns) < len(whole) or len({tuple(column) for column in columns.values()}) != 1:
        return None
    keys = next(iter(columns.values()))
    numbered = all(isinstance(key, int) or key.isdigit() for key in keys)
    if all(map(_is_record, columns.values())) or (len(columns) > len(keys) and not numbered):
        return [{"row": name, **record} for name, record in columns.items()]
    return [{name: column[key] for name, column in columns.items()} for key in keys]


def _numbered(width: int) -> list[str]:
    return [f"c{k + 1}" for k in range(width)]


def _is_record(values: Mapping[Any, Any]) -> bool:
    """Return whether values are a row of several kinds, not a column."""
    kinds = {
        next((kind for kind in (str, list, dict) if isinstance(value, kind)), float)
        for value in values.values()
        if value is not None
    }
    return len(kinds) > 1 and all(isinstance(key, str) for key in values)


def _named_rows(lists: Sequence[list[Any]]) -> _Rows | None:
    """Return the rows if one list has names and exactly one other has lists of equal length."""
    named = [names for names in lists if all(isinstance(name, str) for name in names)]
    for names in named:
        tables = [
            rows
            for rows in lists
            if all(isinstance(row, list) and len(row) == len(names) for row in rows)
        ]
        if len(tables) == 1 and len(set(names)) == len(names) > 1:
            return [dict(zip(names, row, strict=True)) for row in tables[0]]
    return None
