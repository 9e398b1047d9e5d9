"""All table formats.

A file is recognised by its first bytes, not by its ending. These functions are called for every
file, so they import no reader and read little.
"""

from __future__ import annotations

import codecs
import re
import zipfile
from pathlib import Path

from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.paths import require_file
from aucstudio.project.data.readers.format import Format, Recognise
from aucstudio.project.errors import input_error

# Bytes of a file that are examined.
_HEAD_BYTES = 1 << 16

ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ARROW_FILE, ARROW_STREAM = b"ARROW1\0\0", b"\xff\xff\xff\xff"
_SAS = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
# Before Stata 13 a file begins with its version, the order of bytes, and 1.
_STATA_VERSIONS = bytes([104, 105, 108, 110, 111, 112, 113, 114, 115])
_STATA_ORDERS = b"\1\2"
_RELATION = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:%[^\r\n]*)?[\r\n]+)*[ \t]*@relation\b", re.I)
_ATTRIBUTES = re.compile(rb"^[ \t]*@(?:input|output)s?\b", re.I | re.M)
_RECORD = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"')
JSON_LIST = re.compile(rb'(?:\xef\xbb\xbf)?\s*\[\s*\{\s*"')
_CELL = rb'\s*(?:"[^"\\]*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|null|true|false)\s*'
_LISTS = re.compile(rb"(?:\xef\xbb\xbf)?\s*\[\s*\[" + _CELL + rb"(?:," + _CELL + rb")+\]\s*,\s*\[")
_SVMLIGHT_LINE = re.compile(
    r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?(?:,[0-9.]+)*(?:\s+qid:[0-9]+)?((?:\s+[0-9]+:[^\s:]+)*)\s*(?:#.*)?"
)
_SVMLIGHT_LINES = 20
SPREADSHEET_SPACE = "urn:schemas-microsoft-com:office:spreadsheet"
_XML_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*<\?xml")
_PAGE = re.compile(
    r"\ufeff?\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype html|html|table|meta|style)\b",
    re.I | re.S,
)
_TABLE = re.compile(r"<table\b", re.I)
_CHARSET = re.compile(rb"""charset\s*=\s*["']?([\w-]+)""", re.I)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def _begins(*marks: bytes) -> Recognise:
    """Recognise files by their first bytes."""
    return lambda _path, head: head.startswith(marks)


def _is_excel(path: Path, head: bytes) -> bool:
    """Recognise workbooks of any version of Excel but those of XML alone."""
    if head.startswith(_OLE):
        return True
    if not head.startswith(ZIP):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return False
    return not names.isdisjoint(("xl/workbook.xml", "xl/workbook.bin"))


def _is_open_document(path: Path, head: bytes) -> bool:
    return head[:200].find(b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet") > 0


def _is_stata(path: Path, head: bytes) -> bool:
    if head.startswith(b"<stata_dta>"):
        return True
    old = len(head) > 4 and head[0] in _STATA_VERSIONS and head[1] in _STATA_ORDERS
    return old and head[2] == 1 and path.suffix.lower() == ".dta"


def _is_arff(path: Path, head: bytes) -> bool:
    if _RELATION.match(head):
        return True
    # A long comment may come first.
    return path.suffix.lower() == ".arff" and head.lstrip().startswith(b"%")


def _is_keel(path: Path, head: bytes) -> bool:
    return _is_arff(path, head) and _ATTRIBUTES.search(head) is not None


def _is_json(_path: Path, head: bytes) -> bool:
    return any(way.match(head) for way in (_RECORD, JSON_LIST, _LISTS))


def _is_svmlight(_path: Path, head: bytes) -> bool:
    """Return whether all first lines consist of a class and pairs of index and value."""
    try:
        text = head.decode("ascii")
    except UnicodeDecodeError:
        return False
    lines = [line for line in text.split("\n")[:_SVMLIGHT_LINES] if line.strip()]
    if len(head) == _HEAD_BYTES and len(lines) > 1:
        lines = lines[:-1]
    lines = [line for line in lines if not line.lstrip().startswith("#")]
    found = [_SVMLIGHT_LINE.fullmatch(line.strip()) for line in lines]
    return bool(found) and all(found) and any(one and one[1].count(":") > 1 for one in found)


def _is_xml_spreadsheet(_path: Path, head: bytes) -> bool:
    # In UTF-16 every second byte of ASCII is zero.
    letters = head.replace(b"\0", b"") if head.startswith((b"\xff\xfe", b"\xfe\xff")) else head
    letters = letters.removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")
    return _XML_BEGINS.match(letters) is not None and SPREADSHEET_SPACE.encode() in letters


def _is_page(_path: Path, head: bytes) -> bool:
    text = head.decode(encoding_of_page(head), "replace")
    return _PAGE.match(text) is not None and _TABLE.search(text) is not None


def encoding_of_page(head: bytes) -> str:
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    declared = _CHARSET.search(head)
    if declared is not None:
        try:
            return codecs.lookup(declared[1].decode()).name
        except LookupError:
            pass
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


# fmt: off
TEXT = Format(
    "csv", "a text table", "Text tables",
    (".csv", ".tsv", ".txt", ".dat", ".tab", ".psv", ".data"), lambda _path, _head: True,
    encodings=True,
)
PARQUET = Format(
    "parquet", "a Parquet file", "Parquet files", (".parquet", ".pq"), _begins(b"PAR1"),
    "parquet_file:write",
)
# The first format that recognises a file is used; text accepts all others.
FORMATS: tuple[Format, ...] = (
    PARQUET,
    Format("arrow", "an Arrow or Feather file", "Arrow and Feather files",
           (".feather", ".arrow", ".arrows", ".ipc"),
           _begins(ARROW_FILE, ARROW_STREAM), "arrow:write", 4.0),
    Format("excel", "an Excel workbook", "Excel workbooks", (".xlsx", ".xlsm", ".xlsb", ".xls"),
           _is_excel, "excel:write", 8.0, "sheet"),
    Format("opendocument", "an OpenDocument spreadsheet", "OpenDocument spreadsheets", (".ods",),
           _is_open_document, "excel:write", 8.0, "sheet"),
    Format("excel-xml", "an XML spreadsheet", "Excel workbooks", (".xml", ".xls"),
           _is_xml_spreadsheet, "spreadsheet_xml:write", 4.0, "sheet"),
    Format("zip", "a zip archive", "Packed tables", (".zip",),
           _begins(ZIP, b"PK\x05\x06"), "archive:write_zip", 5.0, "member"),
    Format("tar", "a tar archive", "Packed tables", (".tar",),
           lambda _path, head: head[257:262] == b"ustar", "archive:write_tar", 1.0, "member"),
    Format("gzip", "a file packed by gzip", "Packed tables", (".gz", ".tgz"),
           _begins(b"\x1f\x8b\x08"), "compressed:write_gzip", 5.0),
    Format("bzip2", "a file packed by bzip2", "Packed tables", (".bz2",),
           _begins(b"BZh"), "compressed:write_bzip2", 5.0),
    Format("xz", "a file packed by xz", "Packed tables", (".xz",),
           _begins(b"\xfd7zXZ\0"), "compressed:write_xz", 5.0),
    Format("zstd", "a file packed by zstd", "Packed tables", (".zst",),
           _begins(b"\x28\xb5\x2f\xfd"), "compressed:write_zstd", 5.0),
    Format("sqlite", "a SQLite database", "Databases", (".sqlite", ".sqlite3", ".db", ".db3"),
           _begins(b"SQLite format 3\0"), "database:write_sqlite", 1.0, "table"),
    Format("duckdb", "a DuckDB database", "Databases", (".duckdb", ".ddb"),
           lambda _path, head: head[8:12] == b"DUCK", "database:write_duckdb", 1.0, "table"),
    Format("sas", "a SAS table", "SAS tables", (".sas7bdat",),
           _begins(_SAS), "statistics:write_sas", 3.0, encodings=True),
    Format("sas-transport", "a SAS transport file", "SAS tables", (".xpt", ".xport"),
           _begins(b"HEADER RECORD*******LIB"), "statistics:write_sas_transport", 3.0,
           encodings=True),
    Format("stata", "a Stata file", "Stata files", (".dta",),
           _is_stata, "statistics:write_stata", 3.0, encodings=True),
    Format("spss", "an SPSS file", "SPSS files", (".sav", ".zsav"),
           _begins(b"$FL2", b"$FL3"), "statistics:write_spss", 3.0, encodings=True),
    Format("spss-portable", "an SPSS portable file", "SPSS files", (".por",),
           lambda _path, head: b"SPSS PORT FILE" in head[:500], "statistics:write_spss_portable",
           3.0, encodings=True),
    Format("keel", "a KEEL file", "ARFF and KEEL files", (".keel", ".dat"),
           _is_keel, "arff:write", encodings=True),
    Format("arff", "an ARFF file", "ARFF and KEEL files", (".arff",),
           _is_arff, "arff:write", encodings=True),
    Format("json", "a JSON file of records", "JSON records", (".json", ".jsonl", ".ndjson"),
           _is_json, "json_records:write", 1.5, "list"),
    Format("svmlight", "an svmlight file", "svmlight files", (".svm", ".svmlight", ".libsvm"),
           _is_svmlight, "svmlight:write", 10.0),
    Format("html", "a web page", "Web pages with a table", (".html", ".htm"),
           _is_page, "web_page:write", 4.0, "table", encodings=True),
    TEXT,
)
# fmt: on
BY_KEY = {form.key: form for form in FORMATS}

_FOREIGN = (
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
_MARKUP = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<!doctype html|<html|<table|<\?xml)", re.I)
_STATEMENT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|--[^\n]*\n|/\*.*?\*/;?)*"
    rb"(?:(?:DROP|CREATE|ALTER|LOCK) TABLE|INSERT INTO|CREATE DATABASE|BEGIN TRANSACTION)\b",
    re.I | re.S,
)
_SPSS_SYNTAX = re.compile(rb"^[ \t]*DATA LIST\b.*^[ \t]*BEGIN DATA\b", re.I | re.S | re.M)


def recognise(path: Path, name: str = "") -> tuple[Format, list[Finding]]:
    """Find the format of a file by its bytes.

    Parameters
    ----------
    path : Path
    name : str
        Its original name, if it is a temporary copy.

    Returns
    -------
    Format
    list of Finding
        A remark if the ending of its name is misleading.

    Raises
    ------
    InputError
        If it does not exist, cannot be read, or is not a table.
    """
    require_file(path)
    named = name or path.name
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as error:
        raise input_error("file_forbidden", file=path, reason=error.strerror) from error
    _refuse_foreign(path, head)
    form = next(form for form in FORMATS if form.recognises(path, head))
    promised = by_ending(named)
    if promised and form not in promised:
        if form is TEXT and not _is_text(head):
            ending, title = Path(named).suffix, promised[0].title
            raise input_error("file_unlike_ending", file=path, ending=ending, title=title)
        if head.strip():
            return form, [found("format_ending", title=form.title, name=named)]
    return form, []


def _refuse_foreign(path: Path, head: bytes) -> None:
    what = next((what for mark, what in _FOREIGN if head.startswith(mark)), "")
    readable = (_is_xml_spreadsheet, _is_page)
    if _MARKUP.match(head) and not any(recognises(path, head) for recognises in readable):
        what = "a web page without a table, or an XML document"
    if _STATEMENT.match(head):
        what = "a file of SQL statements"
    if _SPSS_SYNTAX.search(head):
        what = "an SPSS syntax file"
    if what:
        raise input_error("file_is_no_table", file=path, what=what)


def _is_text(head: bytes) -> bool:
    return b"\0" not in head or head.startswith((b"\xff\xfe", b"\xfe\xff"))


def by_ending(name: str) -> list[Format]:
    """Return the formats that the ending of a name stands for."""
    ending = Path(name).suffix.lower()
    return [form for form in FORMATS if ending in form.endings]


def endings() -> list[str]:
    """Return all endings, those of text first."""
    ordered = (TEXT, *FORMATS[:-1])
    return list(dict.fromkeys(ending for form in ordered for ending in form.endings))


def dialog_filter() -> str:
    """Return the filter of a file dialog: all tables, each kind, all files."""
    kinds: dict[str, list[str]] = {}
    for form in (TEXT, *FORMATS[:-1]):
        kinds.setdefault(form.plural, []).extend(form.endings)
    listed = [("Tables", endings()), *kinds.items()]
    filters = [f"{name} ({' '.join(f'*{end}' for end in ends)})" for name, ends in listed]
    return ";;".join([*filters, "All files (*)"])
