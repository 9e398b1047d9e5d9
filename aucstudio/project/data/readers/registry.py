"""All table formats, declared in ``formats.toml``.

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

# Bytes of a file that are examined.
_HEAD_BYTES = 1 << 16
_FLAGS = re.IGNORECASE | re.DOTALL | re.MULTILINE
_SVMLIGHT_LINE = re.compile(
    r"[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?(?:,[0-9.]+)*(?:\s+qid:[0-9]+)?((?:\s+[0-9]+:[^\s:]+)*)\s*(?:#.*)?"
)
_SVMLIGHT_LINES = 20
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


def _is_workbook(path: Path, _text: str) -> bool:
    """Recognise a workbook of Excel in a zip archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return False
    return not names.isdisjoint(("xl/workbook.xml", "xl/workbook.bin"))


def _is_svmlight(_path: Path, text: str) -> bool:
    """Return whether all first lines consist of a class and pairs of index and value."""
    if not text.isascii():
        return False
    lines = [line for line in text.split("\n")[:_SVMLIGHT_LINES] if line.strip()]
    if len(text) == _HEAD_BYTES and len(lines) > 1:
        lines = lines[:-1]
    lines = [line for line in lines if not line.lstrip().startswith("#")]
    found = [_SVMLIGHT_LINE.fullmatch(line.strip()) for line in lines]
    return bool(found) and all(found) and any(one and one[1].count(":") > 1 for one in found)


# Further tests of formats that have no bytes of their own.
_TESTS: dict[str, Callable[[Path, str], bool]] = {
    "excel": _is_workbook,
    "svmlight": _is_svmlight,
}


def _read_formats() -> Iterator[Format]:
    for key, about in DECLARED["formats"].items():
        for name in ("begins", "endings"):
            about[name] = tuple(about.get(name, ()))
        yield Format(key, **about)


DECLARED = tomllib.loads(Path(__file__).with_name("formats.toml").read_text(encoding="utf-8"))
# The first format that recognises a file is used; text accepts all others.
FORMATS = tuple(_read_formats())
BY_KEY = {form.key: form for form in FORMATS}
TEXT, PARQUET = BY_KEY["csv"], BY_KEY["parquet"]


def _recognises(form: Format, path: Path, text: str) -> bool:
    if form.pattern and re.match(form.pattern, text, _FLAGS):
        return True
    if text.startswith(form.begins, form.offset):
        return form.key not in _TESTS or _TESTS[form.key](path, text)
    return False


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
    text = _as_text(head)
    form = next((form for form in FORMATS if _recognises(form, path, text)), TEXT)
    if form is TEXT:
        _refuse_foreign(path, text)
    by_name = by_ending(named)
    if by_name and form not in by_name:
        if form is TEXT and "\0" in text:
            ending, title = Path(named).suffix, by_name[0].title
            raise input_error("file_unlike_ending", file=path, ending=ending, title=title)
        if head.strip():
            return form, [found("format_ending", title=form.title, name=named)]
    return form, []


def _as_text(head: bytes) -> str:
    """Decode the first bytes by their byte-order mark, or as Latin-1."""
    encoding = next((name for mark, name in MARKS.items() if head.startswith(mark)), "latin-1")
    return head.decode(encoding, "replace").removeprefix("\ufeff")


def _refuse_foreign(path: Path, text: str) -> None:
    """Raise InputError for a file that is known to be no table."""
    for begin, what in DECLARED["foreign"].items():
        if text.startswith(begin):
            raise input_error("file_is_no_table", file=path, what=what)
    for pattern, what in DECLARED["foreign_texts"].items():
        if re.match(pattern, text, _FLAGS):
            raise input_error("file_is_no_table", file=path, what=what)


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
