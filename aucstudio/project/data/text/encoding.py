"""What the bytes of a file are: its fingerprint, its character encoding, its line ends."""

from __future__ import annotations

import codecs
import dataclasses
import hashlib
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from aucstudio.project.data.paths import require_file, unreadable
from aucstudio.project.errors import InputError

Advance = Callable[[float], None]

_CHUNK = 1 << 20
_SAMPLE = 1 << 16
_SAMPLE_LINES = 20
# A guess among all encodings there ever were goes astray on short samples.
_CANDIDATES = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "koi8_r", "shift_jis", "euc_jp", "gb18030",
    "big5", "euc_kr",
]  # fmt: skip
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
_SYMBOL_INSIDE = re.compile("[A-Za-zÀ-ÿ][¡-©«-´¶¸¹»-¿][A-Za-zÀ-ÿ]")
_NAN = (b"nan(", b"+nan", b"-nan")
_CONTROL = bytes({*range(32)} - {*b"\t\n\v\f\r\x1a\x1b"})


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
    lookalikes : frozenset of str
        Which of :data:`~aucstudio.project.data.text.numerals.LOOKALIKES` occur below the first
        line, as far as the bytes are ASCII's.
    """

    sha256: str
    encoding: str | None
    odd: bytes
    uniform: bool
    lines: int
    lookalikes: frozenset[str]


def scan(path: Path, tell: Advance) -> Scan:
    """Read a file once from end to end.

    Raises
    ------
    InputError
        If the file is not there, cannot be read, is empty, or is no text.
    """
    require_file(path)
    try:
        with path.open("rb") as file:
            return _scan(path, file, tell)
    except OSError as error:
        reason = f"cannot be read ({error.strerror}); choose a file that you may read"
        raise unreadable(path, reason) from error


# Byte-order marks, blanks and line ends.
_BLANK = b"\xef\xbb\xbf\xff\xfe \t\r\n"


def _scan(path: Path, file: BinaryIO, tell: Advance) -> Scan:
    size = max(path.stat().st_size, 1)
    head = file.read(_SAMPLE)
    file.seek(0)
    if not head.strip(_BLANK):
        raise unreadable(path, "is empty; choose a file with a table in it")
    encoding = _from_bom(head) or _utf16_without_bom(head)
    if encoding in (None, "utf-8"):
        _refuse_binary(path, head)
    digest, decoder = hashlib.sha256(), codecs.getincrementaldecoder("utf-8")()
    odd, ends, lookalikes, done = b"", _LineEnds(), _Lookalikes(), 0
    for chunk in _chunks(file):
        digest.update(chunk)
        ends.add(chunk)
        lookalikes.add(chunk)
        if encoding in (None, "utf-8") and not odd:
            odd = _not_utf8(decoder, chunk)
        if encoding in (None, "utf-8") and b"\0" in chunk:
            raise _binary(path, "holds NUL bytes")
        done += len(chunk)
        tell(min(done / size, 1.0))
    if encoding is None and not odd and not _not_utf8(decoder, b"", final=True):
        encoding = "utf-8"
    return Scan(
        digest.hexdigest(), encoding, odd or head, ends.uniform, ends.lines, lookalikes.found
    )


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: file.read(_CHUNK), b"")


def _not_utf8(decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool = False) -> bytes:
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
        self._crlf += chunk.count(b"\r\n") + (self._last == b"\r" and chunk[:1] == b"\n")
        self._lf += chunk.count(b"\n")
        self._cr += chunk.count(b"\r")
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
        self.found = frozenset[str]()
        self._tail: bytes | None = None

    def add(self, chunk: bytes) -> None:
        if self._tail is None:
            # Names of columns may hold anything.
            _, end, chunk = chunk.partition(b"\n")
            if not end:
                return
            self._tail = b""
        piece = self._tail + chunk
        self._tail = piece[-3:]
        if b"_" in piece:
            self.found |= {"_"}
        # Most files need no more than these looks for single bytes, which are quick.
        if b"+" in piece and b"+-" in piece:
            self.found |= {"+-"}
        if "nan" not in self.found and (b"n" in piece or b"N" in piece):
            piece = piece.lower()
            if any(mark in piece for mark in _NAN):
                self.found |= {"nan"}


def _from_bom(head: bytes) -> str | None:
    return next((name for mark, name in _BOMS if head.startswith(mark)), None)


def _utf16_without_bom(head: bytes) -> str | None:
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > 0.3 * len(head) / 2 and not even:
        return "utf-16-le"
    return "utf-16-be" if even > 0.3 * len(head) / 2 and not odd else None


def _refuse_binary(path: Path, head: bytes) -> None:
    for magic, what in _OTHER_FILES:
        if head.startswith(magic):
            raise _binary(path, f"is {what}")
    controls = len(head) - len(head.translate(None, _CONTROL))
    if controls > 0.01 * len(head):
        raise _binary(path, "holds control characters")


def _binary(path: Path, what: str) -> InputError:
    return unreadable(path, f"{what} and is no text table; save it as CSV first")


def guess_encoding(odd: bytes) -> str:
    """Guess the encoding of bytes that are not UTF-8."""
    lines = re.findall(rb"[^\r\n]*[\x80-\xff][^\r\n]*", odd)
    sample = b"\n".join(lines)[:8192]
    if _reads_as_western(sample):
        return "cp1252"
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=_CANDIDATES).best()
    return best.encoding if best is not None else "latin-1"


def _reads_as_western(sample: bytes) -> bool:
    """Tell whether the bytes make words in Windows' western European encoding.

    There an accented letter stands among plain ones, and a symbol does not stand inside a word;
    both fail for Cyrillic, Greek, Polish or Japanese bytes read this way.
    """
    try:
        text = sample.decode("cp1252")
    except UnicodeDecodeError:
        return False
    words = [word for word in re.findall(r"[^\W\d_]+", text) if not word.isascii()]
    accented = sum(not letter.isascii() for word in words for letter in word)
    return _SYMBOL_INSIDE.search(text) is None and accented <= 0.5 * sum(map(len, words))


def plain_copy(path: Path, encoding: str, folder: Path, tell: Advance) -> Path:
    """Write the file again as UTF-8 with LF line ends, the one form that DuckDB always reads.

    Raises
    ------
    InputError
        If the encoding is unknown or does not fit.
    """
    target = folder / "plain.csv"
    size, line = max(path.stat().st_size, 1), 1
    try:
        with path.open("rb") as raw, target.open("w", encoding="utf-8", newline="\n") as copy:
            text = io.TextIOWrapper(raw, encoding=_with_bom(encoding), newline=None)
            while chunk := text.read(_CHUNK):
                copy.write(chunk)
                line += chunk.count("\n")
                tell(min(raw.tell() / size, 1.0))
    except UnicodeError:
        raise InputError(
            f"{path} cannot be read as {encoding} after line {line}; choose another encoding",
            file=str(path),
            line=line,
            setting="encoding",
        ) from None
    except LookupError:
        raise InputError(
            f"unknown encoding {encoding!r}; use a name such as utf-8 or cp1252",
            setting="encoding",
        ) from None
    return target


def _with_bom(encoding: str) -> str:
    # "utf-8-sig" drops a byte-order mark; the others do so by themselves.
    return "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


def head_of(path: Path) -> tuple[str, bool]:
    """Read the first lines of a UTF-8 file; the second value tells whether that was all."""
    with path.open("rb") as file:
        pieces = [file.read(_SAMPLE)]
        lines = pieces[0].count(b"\n")
        while lines < _SAMPLE_LINES and (more := file.read(_SAMPLE)):
            pieces.append(more)
            lines += more.count(b"\n")
        whole = not file.read(1)
    data = b"".join(pieces)
    if not whole:
        data = data[: data.rfind(b"\n") + 1]
    return data.decode("utf-8-sig"), whole


def holds_blank_lines(path: Path) -> bool:
    """Tell whether a file whose lines all end alike may have blank ones."""
    with path.open("rb") as file:
        last = b"\n"
        for chunk in _chunks(file):
            piece = last + chunk
            if b"\n\n" in piece or b"\n\r\n" in piece:
                return True
            last = piece[-2:]
    return False


def lines_at(path: Path, offsets: list[int]) -> list[int]:
    """Give the line, counted from 1, in which the text at each byte offset begins."""
    lines, line, place = [], 1, 0
    with path.open("rb") as file:
        for offset in sorted(offsets):
            while place < offset and (chunk := file.read(min(_CHUNK, offset - place))):
                line += chunk.count(b"\n")
                place += len(chunk)
            here = file.read(_CHUNK)
            file.seek(place)
            # Blank lines before a row belong to it in DuckDB's view.
            blank = len(here) - len(here.lstrip(b"\r\n"))
            lines.append(line + here[:blank].count(b"\n"))
    return lines
