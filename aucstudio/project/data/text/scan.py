"""What the bytes of a file are: its fingerprint, whether they are UTF-8, their line ends."""

from __future__ import annotations

import codecs
import concurrent.futures
import dataclasses
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from aucstudio.project.data.paths import require_file, unreadable
from aucstudio.project.data.text.records import LONGEST_ROW
from aucstudio.project.errors import InputError
from aucstudio.project.words import bytes_words

Advance = Callable[[float], None]

CHUNK = 1 << 20
SAMPLE = 1 << 16
SAMPLE_LINES = 20
# Of a file, so many bytes may be NUL that these are taken for slips.
_SLIPS, _FEW_NULS = 5, 0.01
_LF = 10
_CONTROL = bytes({*range(32)} - {*b"\t\n\v\f\r\x1a\x1b"})
# Byte-order marks, blanks and line ends.
_BLANK = b"\xef\xbb\xbf\xff\xfe \t\r\n"
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHER_FILES = (
    (b"PK\x03\x04", "a spreadsheet or a zip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook"),
    (b"\x1f\x8b", "compressed by gzip"),
    (b"SQLite format 3", "a database"),
)


@dataclasses.dataclass(frozen=True)
class Scan:
    """What one pass over a file's bytes found.

    Attributes
    ----------
    sha256 : str
    encoding : str or None
        "utf-8", "utf-16" or "utf-32" where the bytes leave no doubt.
    odd : bytes
        The first stretch that is not UTF-8, for a guess.
    uniform : bool
        Whether all lines end alike, in LF or in CR LF.
    lines : int
        How many lines there are, or a few more.
    lookalikes : bool
        Whether :data:`~aucstudio.project.data.text.cell_sql.LOOKALIKES` are below the first line.
    damaged : bool
        Whether a mark at the beginning says UTF-8 and some bytes are not.
    nuls : int
        How many bytes are NUL where there should be none.
    """

    sha256: str
    encoding: str | None
    odd: bytes
    uniform: bool
    lines: int
    lookalikes: bool
    damaged: bool = False
    nuls: int = 0


def scan(path: Path, tell: Advance, delimiter: str = "") -> Scan:
    """Read a file once from end to end; a ``delimiter`` that was told may be no usual character.

    Raises
    ------
    InputError
        If the file is not there, cannot be read, is empty, or is no text.
    """
    require_file(path)
    try:
        with path.open("rb") as file:
            return _scan(path, file, tell, delimiter)
    except OSError as error:
        reason = f"cannot be read ({error.strerror}); choose a file that you may read"
        raise unreadable(path, reason) from error


def _scan(path: Path, file: BinaryIO, tell: Advance, delimiter: str) -> Scan:
    size = max(path.stat().st_size, 1)
    head = file.read(SAMPLE)
    file.seek(0)
    if not head.strip(_BLANK):
        raise unreadable(path, "is empty; choose a file with a table in it")
    encoding = _from_bom(head) or _utf16_without_bom(head)
    if encoding in (None, "utf-8"):
        _refuse_binary(path, head, delimiter)
    digest, decoder = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")()
    odd, ends, lookalikes, done, nuls = b"", _LineEnds(), _Lookalikes(), 0, 0
    # The digest takes as long as all the rest, and another processor's time.
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        for chunk in _of_short_lines(path, chunks(file)):
            digested = pool.submit(digest.update, chunk)
            ends.add(chunk)
            lookalikes.add(chunk)
            if encoding in (None, "utf-8") and not odd:
                odd = _not_utf8(decoder, chunk)
            if encoding in (None, "utf-8") and b"\0" in chunk:
                nuls += chunk.count(0)
            done += len(chunk)
            tell(min(done / size, 1.0))
            digested.result()
    if nuls - _padding(path) > max(_SLIPS, _FEW_NULS * size):
        raise _binary(path, "holds NUL bytes")
    if encoding in (None, "utf-8") and not odd and _not_utf8(decoder, b"", final=True):
        odd = head
    damaged = bool(odd) and encoding == "utf-8"
    if encoding is None and not odd:
        encoding = "utf-8"
    return Scan(
        digest.hexdigest(),
        encoding,
        odd or head,
        ends.uniform,
        ends.lines,
        lookalikes.found,
        damaged,
        nuls,
    )


def _of_short_lines(path: Path, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a file; InputError if a line in it is too long for a row."""
    start = end = 0
    for piece in pieces:
        yield piece
        mark = b"\n" if b"\n" in piece else b"\r"
        first = piece.find(mark)
        # A line within one piece is short.
        if first >= 0:
            _refuse_long_line(path, start, end + first)
            start = end + piece.rfind(mark) + 1
        end += len(piece)
    _refuse_long_line(path, start, end)


def _refuse_long_line(path: Path, start: int, end: int) -> None:
    if end - start <= LONGEST_ROW:
        return
    ends, left = _LineEnds(), start
    with path.open("rb") as file:
        while left and (piece := file.read(min(left, CHUNK))):
            ends.add(piece)
            left -= len(piece)
    line = ends.lines
    raise InputError(
        f"{path}, line {line}: the line has {bytes_words(end - start)}, and a row of at most "
        f"{bytes_words(LONGEST_ROW)} is read; is it the right file?",
        file=str(path),
        line=line,
    )


def _padding(path: Path) -> int:
    """Count the NUL bytes that fill up the end of a file, as logs of instruments have."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - CHUNK))
        tail = file.read()
    return len(tail) - len(tail.rstrip(b"\0"))


def chunks(file: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: file.read(CHUNK), b"")


def _not_utf8(decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> bytes:
    if chunk.isascii() and not decoder.getstate()[0]:
        return b""
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return chunk or b"\xff"
    return b""


class _LineEnds:
    """Counts the kinds of line ends over chunks."""

    def __init__(self) -> None:
        self._crlf = self._lf = self._cr = 0
        self._last = b""

    def add(self, chunk: bytes) -> None:
        # Counting as numbers takes a fifth of counting as bytes.
        self._lf += int(np.count_nonzero(np.frombuffer(chunk, dtype=np.uint8) == _LF))
        # A look for a single byte is quick, one for two is not.
        if b"\r" in chunk:
            self._cr += chunk.count(b"\r")
            self._crlf += chunk.count(b"\r\n")
        self._crlf += self._last == b"\r" and chunk[:1] == b"\n"
        self._last = chunk[-1:]

    @property
    def lines(self) -> int:
        return self._lf + self._cr - self._crlf + 1

    @property
    def uniform(self) -> bool:
        return self._cr == self._crlf and self._crlf in (0, self._lf)


class _Lookalikes:
    """Looks over chunks for what DuckDB alone would take for numbers."""

    def __init__(self) -> None:
        self.found = False
        self._last: bytes | None = None

    def add(self, chunk: bytes) -> None:
        if self._last is None:
            # Names of columns may hold anything.
            _, end, chunk = chunk.partition(b"\n")
            if not end:
                return
        # A look for a single byte is quick, one for two is not.
        piece = (self._last or b"") + chunk
        self.found = self.found or b"_" in piece or (b"+" in piece and b"+-" in piece)
        self._last = chunk[-1:]


def _from_bom(head: bytes) -> str | None:
    return next((name for mark, name in _BOMS if head.startswith(mark)), None)


def _utf16_without_bom(head: bytes) -> str | None:
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > 0.3 * len(head) / 2 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > 0.3 * len(head) / 2 and not odd else None


def _refuse_binary(path: Path, head: bytes, delimiter: str) -> None:
    for magic, what in _OTHER_FILES:
        if head.startswith(magic):
            raise _binary(path, f"is {what}")
    head = head.rstrip(b"\0")
    unusual = bytes(set(_CONTROL) - set(delimiter.encode()) - _separators(head))
    controls = len(head) - len(head.translate(None, unusual))
    if controls > max(_SLIPS, 0.01 * len(head)):
        raise _binary(path, "holds control characters")


def _separators(head: bytes) -> set[int]:
    """Return the control characters that every line has as often: databases write these."""
    lines = head.split(b"\n")[:SAMPLE_LINES][:-1]
    counts = {mark: {line.count(mark) for line in lines} for mark in (b"\x01", b"\x1f")}
    return {mark[0] for mark, found in counts.items() if len(found) == 1 and 0 not in found}


def _binary(path: Path, what: str) -> InputError:
    return unreadable(path, f"{what} and is no text table; save it as CSV first")
