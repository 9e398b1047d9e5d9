"""How the formats of files are recognised: by their first bytes, whatever their endings say.

Every file is asked, so these functions import no reader and read little.
"""

from __future__ import annotations

import codecs
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

Recognise = Callable[[Path, bytes], bool]

# Bytes of a file that are looked at.
HEAD_BYTES = 1 << 16

ZIP, OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ARROW_FILE, ARROW_STREAM = b"ARROW1\0\0", b"\xff\xff\xff\xff"
SAS = bytes.fromhex("000000000000000000000000c2ea8160b31411cfbd92080009c7318c181f1011")
# Before Stata 13 a file begins with its version, the order of bytes, and 1.
_STATA_VERSIONS = bytes([104, 105, 108, 110, 111, 112, 113, 114, 115])
_STATA_ORDERS = b"\1\2"
_TAR = slice(257, 262)
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
_XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<\?xml")
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


def begins(*marks: bytes) -> Recognise:
    """Recognise files by their first bytes."""
    return lambda _path, head: head.startswith(marks)


def is_excel(path: Path, head: bytes) -> bool:
    """Recognise workbooks of any version of Excel but those of XML alone."""
    if head.startswith(OLE):
        return True
    if not head.startswith(ZIP):
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return False
    return not names.isdisjoint(("xl/workbook.xml", "xl/workbook.bin"))


def is_open_document(path: Path, head: bytes) -> bool:
    return head[:200].find(b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet") > 0


def is_tar(_path: Path, head: bytes) -> bool:
    return head[_TAR] == b"ustar"


def is_duckdb(_path: Path, head: bytes) -> bool:
    return head[8:12] == b"DUCK"


def is_stata(path: Path, head: bytes) -> bool:
    if head.startswith(b"<stata_dta>"):
        return True
    old = len(head) > 4 and head[0] in _STATA_VERSIONS and head[1] in _STATA_ORDERS
    return old and head[2] == 1 and path.suffix.lower() == ".dta"


def is_portable(_path: Path, head: bytes) -> bool:
    return b"SPSS PORT FILE" in head[:500]


def is_arff(path: Path, head: bytes) -> bool:
    if _RELATION.match(head):
        return True
    # A long comment may stand above.
    return path.suffix.lower() == ".arff" and head.lstrip().startswith(b"%")


def is_keel(path: Path, head: bytes) -> bool:
    return is_arff(path, head) and _ATTRIBUTES.search(head) is not None


def is_json(_path: Path, head: bytes) -> bool:
    return any(way.match(head) for way in (_RECORD, JSON_LIST, _LISTS))


def is_svmlight(_path: Path, head: bytes) -> bool:
    """Return whether the first lines are all of a class and pairs of index and value."""
    try:
        text = head.decode("ascii")
    except UnicodeDecodeError:
        return False
    lines = [line for line in text.split("\n")[:_SVMLIGHT_LINES] if line.strip()]
    if len(head) == HEAD_BYTES and len(lines) > 1:
        lines = lines[:-1]
    lines = [line for line in lines if not line.lstrip().startswith("#")]
    found = [_SVMLIGHT_LINE.fullmatch(line.strip()) for line in lines]
    return bool(found) and all(found) and any(one and one[1].count(":") > 1 for one in found)


def is_xml_spreadsheet(_path: Path, head: bytes) -> bool:
    # Of two bytes a letter, every second one is zero.
    letters = head.replace(b"\0", b"") if head.startswith((b"\xff\xfe", b"\xfe\xff")) else head
    letters = letters.removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")
    return _XML.match(letters) is not None and SPREADSHEET_SPACE.encode() in letters


def is_page(_path: Path, head: bytes) -> bool:
    text = head.decode(encoding_of_page(head), "replace")
    return _PAGE.match(text) is not None and _TABLE.search(text) is not None


def encoding_of_page(head: bytes) -> str:
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    said = _CHARSET.search(head)
    if said is not None:
        try:
            return codecs.lookup(said[1].decode()).name
        except LookupError:
            pass
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
