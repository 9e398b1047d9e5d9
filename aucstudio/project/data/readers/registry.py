"""Every format that is read; file dialogs, drops, the command line and sentences follow from it."""

from __future__ import annotations

import re
from pathlib import Path

from aucstudio.project.data.paths import require_file, unreadable
from aucstudio.project.data.readers import (
    archive,
    arff,
    arrow,
    compressed,
    database,
    excel,
    json_records,
    parquet_file,
    spreadsheet_xml,
    statistics,
    svmlight,
    web_page,
)
from aucstudio.project.data.readers.format import Format

TEXT = Format(
    key="csv",
    title="a text table",
    plural="Text tables",
    endings=(".csv", ".tsv", ".txt", ".dat", ".tab", ".psv", ".data"),
    recognises=lambda _path, _head: True,
    encodings=True,
)
(PARQUET,) = parquet_file.FORMATS
# The first one that recognises a file has it: text takes what is left.
FORMATS: tuple[Format, ...] = (
    PARQUET,
    *arrow.FORMATS,
    *excel.FORMATS,
    *spreadsheet_xml.FORMATS,
    *archive.FORMATS,
    *compressed.FORMATS,
    *database.FORMATS,
    *statistics.FORMATS,
    *arff.FORMATS,
    *json_records.FORMATS,
    *svmlight.FORMATS,
    *web_page.FORMATS,
    TEXT,
)
BY_KEY = {form.key: form for form in FORMATS}

_STRANGERS = (
    (b"%PDF", "a PDF document"),
    (b"\x89HDF", "an HDF5 file"),
    (b"RDX", "an R workspace"),
    (b"X\n\0\0\0", "an R object"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"MATLAB 5.0", "a Matlab file"),
    (b"FEA1", "a Feather file of the first version"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"Obj\1", "an Avro file"),
    (b"ORC", "an ORC file"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
)
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<!doctype html|<html|<table|<\?xml)", re.I)
_STATEMENT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|--[^\n]*\n|/\*.*?\*/;?)*"
    rb"(?:(?:DROP|CREATE|ALTER|LOCK) TABLE|INSERT INTO|CREATE DATABASE|BEGIN TRANSACTION)\b",
    re.I | re.S,
)


def recognise(path: Path, name: str = "") -> tuple[Format, str]:
    """Find the format of a file: by its bytes, whatever its ending says.

    Parameters
    ----------
    path : Path
    name : str
        What it is called, where that is not the name it lies under.

    Returns
    -------
    Format
    str
        What to tell about a misleading ending; may be empty.

    Raises
    ------
    InputError
        If it is not there, cannot be read, or is no table.
    """
    require_file(path)
    named = name or path.name
    try:
        with path.open("rb") as file:
            head = file.read(svmlight.HEAD_BYTES)
    except OSError as error:
        reason = f"cannot be read ({error.strerror}); choose a file that you may read"
        raise unreadable(path, reason) from error
    _refuse_strangers(path, head)
    found = next(form for form in FORMATS if form.recognises(path, head))
    promised = by_ending(named)
    if promised and found not in promised:
        if found is TEXT and not _is_text(head):
            raise unreadable(
                path,
                f"is called {Path(named).suffix} and does not begin as {promised[0].title} does; "
                "it may be damaged",
            )
        told = f"read as {found.title}, whatever the ending of {named} says"
        return found, told if head.strip() else ""
    return found, ""


def _refuse_strangers(path: Path, head: bytes) -> None:
    what = next((what for mark, what in _STRANGERS if head.startswith(mark)), "")
    readable = (*spreadsheet_xml.FORMATS, *web_page.FORMATS)
    if _PAGE.match(head) and not any(form.recognises(path, head) for form in readable):
        what = "a web page without a table, or an XML document"
    if _STATEMENT.match(head):
        what = "a file of SQL statements"
    if what:
        raise unreadable(
            path, f"is {what}, which is not read as a table; save the table in it as CSV or Parquet"
        )


def _is_text(head: bytes) -> bool:
    return b"\0" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))


def by_ending(name: str) -> list[Format]:
    """List the formats that a name's ending promises; none where it says nothing."""
    ending = Path(name).suffix.lower()
    return [form for form in FORMATS if ending in form.endings]


def endings() -> list[str]:
    """List all endings, those of text first."""
    ordered = (TEXT, *FORMATS[:-1])
    return list(dict.fromkeys(ending for form in ordered for ending in form.endings))


def dialog_filter() -> str:
    """Write what a file dialog offers: all tables, each kind, all files."""
    kinds: dict[str, list[str]] = {}
    for form in (TEXT, *FORMATS[:-1]):
        kinds.setdefault(form.plural, []).extend(form.endings)
    listed = [("Tables", endings()), *kinds.items()]
    filters = [f"{name} ({' '.join(f'*{end}' for end in ends)})" for name, ends in listed]
    return ";;".join([*filters, "All files (*)"])
