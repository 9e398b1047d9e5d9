"""One pass over the bytes of a file: line ends, encoding, and what cannot be text."""

from __future__ import annotations

import codecs
import dataclasses
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from aucstudio.notices.words import bytes_words
from aucstudio.project.data.input_files import require_file
from aucstudio.project.data.text.dialect import LONGEST_ROW
from aucstudio.project.errors import input_error

Advance = Callable[[float], None]

CHUNK = 1 << 20
SAMPLE = 1 << 16
SAMPLE_LINES = 20
# So many control characters, or NUL bytes of this share, are slips in a text.
_SLIPS, _FEW = 5, 0.01
_LF = 10
_CONTROL = bytes({*range(32)} - {*b"\t\n\v\f\r\x1a\x1b"})
# Byte-order marks, blanks, line ends and NUL bytes.
_BLANK = b"\xef\xbb\xbf\xff\xfe \t\r\n\0"
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclasses.dataclass(frozen=True)
class Scan:
    """What one pass over a file's bytes found.

    Attributes
    ----------
    encoding : str or None
        "utf-8", "utf-16" or "utf-32" if the bytes leave no doubt.
    odd : bytes
        The first chunk that is not UTF-8.
    uniform : bool
        Whether all lines end in LF, or all in CR LF.
    lines : int
        The number of lines, or a few more.
    lookalikes : bool
        Whether :data:`~aucstudio.project.data.cells.LOOKALIKES` are below the first line.
    damaged : bool
        Whether a byte-order mark says UTF-8 and some bytes are not.
    nuls : int
        The number of NUL bytes in a file that should have none.
    quoted : bool
        Whether there are quotation marks.
    """

    encoding: str | None
    odd: bytes
    uniform: bool
    lines: int
    lookalikes: bool
    damaged: bool = False
    nuls: int = 0
    quoted: bool = True


def scan(path: Path, progress: Advance, delimiter: str = "") -> Scan:
    """Read a file once from end to end; a given ``delimiter`` may be any character.

    Raises
    ------
    InputError
        If the file is missing, cannot be read, is empty, or is not text.
    """
    require_file(path)
    try:
        with path.open("rb") as file:
            return _scan(path, file, progress, delimiter)
    except OSError as error:
        raise input_error("file_forbidden", file=path, reason=error.strerror) from error


def _scan(path: Path, file: BinaryIO, progress: Advance, delimiter: str) -> Scan:
    size = max(path.stat().st_size, 1)
    head = file.read(SAMPLE)
    file.seek(0)
    if not head.strip(_BLANK):
        raise input_error("file_empty", file=path)
    encoding = encoding_of(head)
    may_be_utf8 = encoding in (None, "utf-8")
    if may_be_utf8:
        _refuse_binary(path, head, delimiter)
    decoder = codecs.getincrementaldecoder("utf-8")()
    odd, counter, done, nuls = b"", _Counter(), 0, 0
    while chunk := file.read(CHUNK):
        line = counter.lines
        if counter.add(chunk) > LONGEST_ROW:
            longest = bytes_words(LONGEST_ROW)
            raise input_error("line_too_long", file=path, line=line, longest=longest)
        if may_be_utf8:
            odd = odd or _invalid_utf8(decoder, chunk)
            nuls += chunk.count(0) if b"\0" in chunk else 0
        done += len(chunk)
        progress(min(done / size, 1.0))
    if nuls - _padding(path) > max(_SLIPS, _FEW * size):
        raise input_error("file_is_not_text", file=path, what="holds NUL bytes")
    if may_be_utf8 and not odd and _invalid_utf8(decoder, b"", final=True):
        odd = head
    return Scan(
        "utf-8" if encoding is None and not odd else encoding,
        odd or head,
        counter.uniform,
        counter.lines,
        counter.lookalikes,
        bool(odd) and encoding == "utf-8",
        nuls,
        counter.quoted,
    )


def _padding(path: Path) -> int:
    """Count the NUL bytes at the end of a file, as instruments fill up their logs."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - CHUNK))
        tail = file.read()
    return len(tail) - len(tail.rstrip(b"\0"))


def _invalid_utf8(decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> bytes:
    if chunk.isascii() and not decoder.getstate()[0]:
        return b""
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return chunk or b"\xff"
    return b""


class _Counter:
    """Counts line ends over chunks, and looks for what only DuckDB would take for numbers."""

    def __init__(self) -> None:
        self.lookalikes = self.quoted = False
        self._crlf = self._lf = self._cr = self._unfinished = 0
        self._last, self._is_below_names = b"", False

    def add(self, chunk: bytes) -> int:
        """Count a chunk; return the length so far of the line that it goes on with."""
        # Counting as numbers takes a fifth of counting as bytes; a search for one byte is fast.
        self._lf += int(np.count_nonzero(np.frombuffer(chunk, dtype=np.uint8) == _LF))
        if b"\r" in chunk:
            self._cr += chunk.count(b"\r")
            self._crlf += chunk.count(b"\r\n")
        self._crlf += self._last == b"\r" and chunk[:1] == b"\n"
        if not self.lookalikes:
            # In column names these characters are no numbers.
            piece = chunk if self._is_below_names else chunk.partition(b"\n")[2]
            is_cut = self._last == b"+" and piece[:1] == b"-"
            self.lookalikes = is_cut or b"_" in piece or (b"+" in piece and b"+-" in piece)
        self.quoted = self.quoted or b'"' in chunk
        self._is_below_names = self._is_below_names or b"\n" in chunk
        self._last = chunk[-1:]
        mark = b"\n" if b"\n" in chunk else b"\r"
        begun, first = self._unfinished, chunk.find(mark)
        self._unfinished = begun + len(chunk) if first < 0 else len(chunk) - chunk.rfind(mark) - 1
        return begun + (len(chunk) if first < 0 else first)

    @property
    def lines(self) -> int:
        return self._lf + self._cr - self._crlf + 1

    @property
    def uniform(self) -> bool:
        return self._cr == self._crlf and self._crlf in (0, self._lf)


def encoding_of(head: bytes) -> str | None:
    """Return the encoding that a byte-order mark or NUL bytes show."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if max(even, odd) <= 0.3 * len(head) / 2 or (even and odd):
        return None
    return "utf-16-be" if even else "utf-16-le"


def _refuse_binary(path: Path, head: bytes, delimiter: str) -> None:
    head = head.rstrip(b"\0")
    unusual = bytes(set(_CONTROL) - set(delimiter.encode()) - _control_delimiters(head))
    controls = len(head) - len(head.translate(None, unusual))
    if controls > max(_SLIPS, _FEW * len(head)):
        raise input_error("file_is_not_text", file=path, what="holds control characters")


def _control_delimiters(head: bytes) -> set[int]:
    """Return the control characters that are equally frequent in all lines, as databases write."""
    lines = head.split(b"\n")[:SAMPLE_LINES][:-1]
    counts = {mark: {line.count(mark) for line in lines} for mark in (b"\x01", b"\x1f")}
    return {mark[0] for mark, found in counts.items() if len(found) == 1 and 0 not in found}


def last_open_quote(path: Path) -> tuple[int, int] | None:
    """Return where the last quotation mark of a file opens a cell, which is never closed.

    Returns
    -------
    pair of int, or None
        The line, counted from 1, and the bytes from the mark to the end of the file.
    """
    with path.open("rb") as file:
        end = size = file.seek(0, 2)
        while end:
            start = max(0, end - CHUNK)
            file.seek(start)
            mark = file.read(end - start).rfind(b'"')
            if mark >= 0:
                place = start + mark
                file.seek(max(0, place - 1))
                before = file.read(1) if place else b"\n"
                is_open = before in b",;\t|\n"
                return (lines_at(path, [place])[0], size - place) if is_open else None
            end = start
    return None


def lines_at(path: Path, places: Iterable[int]) -> list[int]:
    """Return the lines of some bytes in ascending order, counted from 1."""
    lines, line = list[int](), 1
    with path.open("rb") as file:
        for place in places:
            while piece := file.read(min(CHUNK, place - file.tell())):
                line += piece.count(b"\n")
            lines.append(line)
    return lines
