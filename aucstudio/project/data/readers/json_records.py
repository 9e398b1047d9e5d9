"""JSON: one record a line, or a list of records; through DuckDB."""

from __future__ import annotations

import re
from pathlib import Path

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
        connection.execute(
            f"COPY (SELECT * FROM {source}) TO {literal(str(target))} (FORMAT csv, HEADER)"
        )
    return Written(known=dict(NAMED_ROWS))


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
