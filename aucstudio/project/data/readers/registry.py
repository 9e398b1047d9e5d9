"""All table formats.

A file is recognised by its first bytes, not by its ending. These functions are called for every
file, so they import no reader and read little.
"""

from __future__ import annotations

import codecs
import re
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from aucstudio.project.data.finding import Finding, found
from aucstudio.project.data.paths import require_file
from aucstudio.project.data.readers.format import Format
from aucstudio.project.errors import input_error

# Bytes of a file that are examined, and those among which a mark of a format is.
_HEAD_BYTES, _LONGEST_MARK = 1 << 16, 512

ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ARROW_FILE = b"ARROW1\0\0"
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


# Recognise the formats that have no bytes of their own.
_RECOGNISERS: dict[str, Callable[[Path, bytes], bool]] = {
    "excel": _is_excel,
    "excel-xml": _is_xml_spreadsheet,
    "stata": _is_stata,
    "keel": _is_keel,
    "arff": _is_arff,
    "json": _is_json,
    "svmlight": _is_svmlight,
    "html": _is_page,
    "csv": lambda _path, _head: True,
}


def _read_formats() -> Iterator[Format]:
    for key, about in DECLARED["formats"].items():
        for name in ("begins", "endings"):
            about[name] = tuple(about.get(name, ()))
        yield Format(key, **about)


def _recognises(form: Format, path: Path, head: bytes) -> bool:
    if form.key in _RECOGNISERS:
        return _RECOGNISERS[form.key](path, head)
    text = head[:_LONGEST_MARK].decode("latin-1")
    is_inside = form.contains != "" and form.contains in text[: form.within]
    return is_inside or text.startswith(form.begins, form.offset)


DECLARED = tomllib.loads(Path(__file__).with_name("formats.toml").read_text(encoding="utf-8"))
# The first format that recognises a file is used; text accepts all others.
FORMATS = tuple(_read_formats())
BY_KEY = {form.key: form for form in FORMATS}
TEXT, PARQUET = BY_KEY["csv"], BY_KEY["parquet"]

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
    form = next(form for form in FORMATS if _recognises(form, path, head))
    promised = by_ending(named)
    if promised and form not in promised:
        if form is TEXT and not _is_text(head):
            ending, title = Path(named).suffix, promised[0].title
            raise input_error("file_unlike_ending", file=path, ending=ending, title=title)
        if head.strip():
            return form, [found("format_ending", title=form.title, name=named)]
    return form, []


def _refuse_foreign(path: Path, head: bytes) -> None:
    text = head[:_LONGEST_MARK].decode("latin-1")
    what = next((what for mark, what in DECLARED["foreign"].items() if text.startswith(mark)), "")
    if _MARKUP.match(head) and not (_is_xml_spreadsheet(path, head) or _is_page(path, head)):
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
