"""Every format that is read; file dialogs, drops, the command line and sentences follow from it."""

from __future__ import annotations

import re
from pathlib import Path

from aucstudio.project.data.paths import require_file, unreadable
from aucstudio.project.data.readers import recognition
from aucstudio.project.data.readers.format import Format
from aucstudio.project.data.readers.recognition import begins

TEXT = Format(
    key="csv",
    title="a text table",
    plural="Text tables",
    endings=(".csv", ".tsv", ".txt", ".dat", ".tab", ".psv", ".data"),
    recognises=lambda _path, _head: True,
    encodings=True,
)
PARQUET = Format(
    key="parquet",
    title="a Parquet file",
    plural="Parquet files",
    endings=(".parquet", ".pq"),
    recognises=begins(b"PAR1"),
    writer="parquet_file:write",
)
# The first one that recognises a file has it: text takes what is left.
FORMATS: tuple[Format, ...] = (
    PARQUET,
    Format(
        key="arrow",
        title="an Arrow or Feather file",
        plural="Arrow and Feather files",
        endings=(".feather", ".arrow", ".arrows", ".ipc"),
        recognises=begins(recognition.ARROW_FILE, recognition.ARROW_STREAM),
        writer="arrow:write",
        swelling=4.0,
    ),
    Format(
        key="excel",
        title="an Excel workbook",
        plural="Excel workbooks",
        endings=(".xlsx", ".xlsm", ".xlsb", ".xls"),
        recognises=recognition.is_excel,
        writer="excel:write",
        part="sheet",
        swelling=8.0,
    ),
    Format(
        key="opendocument",
        title="an OpenDocument spreadsheet",
        plural="OpenDocument spreadsheets",
        endings=(".ods",),
        recognises=recognition.is_open_document,
        writer="excel:write",
        part="sheet",
        swelling=8.0,
    ),
    Format(
        key="excel-xml",
        title="an XML spreadsheet",
        plural="Excel workbooks",
        endings=(".xml", ".xls"),
        recognises=recognition.is_xml_spreadsheet,
        writer="spreadsheet_xml:write",
        part="sheet",
        swelling=4.0,
    ),
    Format(
        key="zip",
        title="a zip archive",
        plural="Packed tables",
        endings=(".zip",),
        recognises=begins(b"PK\x03\x04", b"PK\x05\x06"),
        writer="archive:write_zip",
        part="member",
        swelling=5.0,
    ),
    Format(
        key="tar",
        title="a tar archive",
        plural="Packed tables",
        endings=(".tar",),
        recognises=recognition.is_tar,
        writer="archive:write_tar",
        part="member",
    ),
    Format(
        key="gzip",
        title="a file packed by gzip",
        plural="Packed tables",
        endings=(".gz", ".tgz"),
        recognises=begins(b"\x1f\x8b\x08"),
        writer="compressed:write_gzip",
        swelling=5.0,
    ),
    Format(
        key="bzip2",
        title="a file packed by bzip2",
        plural="Packed tables",
        endings=(".bz2",),
        recognises=begins(b"BZh"),
        writer="compressed:write_bzip2",
        swelling=5.0,
    ),
    Format(
        key="xz",
        title="a file packed by xz",
        plural="Packed tables",
        endings=(".xz",),
        recognises=begins(b"\xfd7zXZ\0"),
        writer="compressed:write_xz",
        swelling=5.0,
    ),
    Format(
        key="zstd",
        title="a file packed by zstd",
        plural="Packed tables",
        endings=(".zst",),
        recognises=begins(b"\x28\xb5\x2f\xfd"),
        writer="compressed:write_zstd",
        swelling=5.0,
    ),
    Format(
        key="sqlite",
        title="a SQLite database",
        plural="Databases",
        endings=(".sqlite", ".sqlite3", ".db", ".db3"),
        recognises=begins(b"SQLite format 3\0"),
        writer="database:write_sqlite",
        part="table",
    ),
    Format(
        key="duckdb",
        title="a DuckDB database",
        plural="Databases",
        endings=(".duckdb", ".ddb"),
        recognises=recognition.is_duckdb,
        writer="database:write_duckdb",
        part="table",
    ),
    Format(
        key="sas",
        title="a SAS table",
        plural="SAS tables",
        endings=(".sas7bdat",),
        recognises=begins(recognition.SAS),
        writer="statistics:write_sas",
        encodings=True,
        swelling=3.0,
    ),
    Format(
        key="sas-transport",
        title="a SAS transport file",
        plural="SAS tables",
        endings=(".xpt", ".xport"),
        recognises=begins(b"HEADER RECORD*******LIB"),
        writer="statistics:write_sas_transport",
        encodings=True,
        swelling=3.0,
    ),
    Format(
        key="stata",
        title="a Stata file",
        plural="Stata files",
        endings=(".dta",),
        recognises=recognition.is_stata,
        writer="statistics:write_stata",
        encodings=True,
        swelling=3.0,
    ),
    Format(
        key="spss",
        title="an SPSS file",
        plural="SPSS files",
        endings=(".sav", ".zsav"),
        recognises=begins(b"$FL2", b"$FL3"),
        writer="statistics:write_spss",
        encodings=True,
        swelling=3.0,
    ),
    Format(
        key="spss-portable",
        title="an SPSS portable file",
        plural="SPSS files",
        endings=(".por",),
        recognises=recognition.is_portable,
        writer="statistics:write_spss_portable",
        encodings=True,
        swelling=3.0,
    ),
    Format(
        key="keel",
        title="a KEEL file",
        plural="ARFF and KEEL files",
        endings=(".keel", ".dat"),
        recognises=recognition.is_keel,
        writer="arff:write",
        encodings=True,
    ),
    Format(
        key="arff",
        title="an ARFF file",
        plural="ARFF and KEEL files",
        endings=(".arff",),
        recognises=recognition.is_arff,
        writer="arff:write",
        encodings=True,
    ),
    Format(
        key="json",
        title="a JSON file of records",
        plural="JSON records",
        endings=(".json", ".jsonl", ".ndjson"),
        recognises=recognition.is_json,
        writer="json_records:write",
        part="list",
        swelling=1.5,
    ),
    Format(
        key="svmlight",
        title="an svmlight file",
        plural="svmlight files",
        endings=(".svm", ".svmlight", ".libsvm"),
        recognises=recognition.is_svmlight,
        writer="svmlight:write",
        swelling=10.0,
    ),
    Format(
        key="html",
        title="a web page",
        plural="Web pages with a table",
        endings=(".html", ".htm"),
        recognises=recognition.is_page,
        writer="web_page:write",
        part="table",
        encodings=True,
        swelling=4.0,
    ),
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
            head = file.read(recognition.HEAD_BYTES)
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
        told = f"read as {found.title}, in spite of the ending of {named}"
        return found, told if head.strip() else ""
    return found, ""


def _refuse_strangers(path: Path, head: bytes) -> None:
    what = next((what for mark, what in _STRANGERS if head.startswith(mark)), "")
    readable = (recognition.is_xml_spreadsheet, recognition.is_page)
    if _PAGE.match(head) and not any(recognises(path, head) for recognises in readable):
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
