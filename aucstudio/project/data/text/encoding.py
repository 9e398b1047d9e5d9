"""Encoding, line ends and fingerprint of a file."""

from __future__ import annotations

import codecs
import concurrent.futures
import dataclasses
import functools
import hashlib
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from aucstudio.project.data.paths import require_file, unreadable
from aucstudio.project.data.text.records import LONGEST_ROW
from aucstudio.project.errors import InputError
from aucstudio.project.inputs import MOST_COLUMNS, refuse_columns
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
    """Read a file once from end to end; a given ``delimiter`` may be any character.

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
        f"{path}, line {line}: the line has {bytes_words(end - start)}, and rows of at most "
        f"{bytes_words(LONGEST_ROW)} are read; is it the right file?",
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
    return unreadable(path, f"{what} and is not a text table; save it as CSV first")


# So much is looked at to guess an encoding; and of a file of that size all.
_MOST_GUESSED = 1 << 22
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
# Where rows have many lines, so many samples are the first rows.
_MOST_PIECES = 16
# Of the bytes that are looked at, so many may be no UTF-8 that these are taken for slips.
_FEW_BAD = 0.1


@dataclasses.dataclass(frozen=True)
class Decoding:
    """How bytes become characters.

    Attributes
    ----------
    encoding : str
    is_sure : bool
        Whether it is no guess.
    told : tuple of str
        What a person should know about it.
    tolerant : bool
        Whether bytes that are none of the encoding become the sign for such.
    beside : str
        The encoding of the bytes that are none of the other; empty if there is none.
    nuls : int
        NUL bytes to be left out.
    """

    encoding: str
    is_sure: bool = True
    told: tuple[str, ...] = ()
    tolerant: bool = False
    beside: str = ""
    nuls: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether the bytes are valid UTF-8."""
        return is_utf8(self.encoding) and not (self.tolerant or self.beside or self.nuls)


def is_utf8(encoding: str) -> bool:
    """Return whether an encoding is UTF-8, whatever it is called."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig", "ascii")


def find_decoding(path: Path, found: Scan, given: str | None, known: str | None) -> Decoding:
    """Find how a file is encoded.

    Parameters
    ----------
    path : Path
    found : Scan
    given : str or None
        What a person said.
    known : str or None
        That of an earlier file of this layout.
    """
    told: tuple[str, ...] = ()
    if found.nuls:
        plural = "s were" if found.nuls > 1 else " was"
        told = (f"{found.nuls} NUL byte{plural} left out",)
    if given is not None:
        return Decoding(given, told=told, nuls=found.nuls)
    if found.encoding is not None and not found.damaged:
        return Decoding(found.encoding, told=told, nuls=found.nuls)
    bad, first = _bad_bytes(path, found)
    if bad:
        plural = "s are" if bad > 1 else " is"
        shown = f"{bad} byte{plural} not valid UTF-8, shown as \ufffd, the first in line {first}"
        return Decoding("utf-8", told=(*told, shown), tolerant=True, nuls=found.nuls)
    if known is not None and not is_utf8(known):
        return Decoding(known, False, told, nuls=found.nuls)
    from aucstudio.project.data.text.codepages import guess_encoding

    strange = _strange_lines(path, found)
    if other := _among_utf8(strange):
        wrong = f"some lines are not valid UTF-8 and are read as {other}"
        return Decoding("utf-8", False, (*told, wrong), beside=other, nuls=found.nuls)
    guess = guess_encoding(strange)
    sentence = f"the encoding is not UTF-8; read as {guess.encoding}"
    if guess.other:
        one, other = guess.words
        sentence += f", e.g. a word is decoded as {one!r}; {guess.other} would give {other!r}"
    return Decoding(guess.encoding, False, (*told, sentence), nuls=found.nuls)


def _bad_bytes(path: Path, found: Scan) -> tuple[int, int]:
    """Count the slips in a file that is UTF-8 otherwise, and give the line of the first; else 0."""
    bad = good = first = 0
    lines = 1
    with path.open("rb") as file:
        for line in file:
            if not line.isascii():
                good += len(_MULTIBYTE.findall(line))
                wrong = line.decode("utf-8-sig", "replace").count("\ufffd") - line.count(
                    b"\xef\xbf\xbd"
                )
                bad += wrong
                first = first or (lines if wrong > 0 else 0)
            lines += 1
    few = max(1, int(_FEW_BAD * good)) if good else 0
    return (bad, first) if found.damaged or 0 < bad <= few else (0, 0)


def _among_utf8(strange: bytes) -> str:
    """Return the encoding of the lines that are not UTF-8, where most are; else nothing.

    These have to be words, as only what was encoded twice would be if it were read otherwise.
    """
    from aucstudio.project.data.text.codepages import encoded_twice, guess_encoding

    good, bad = list[bytes](), list[bytes]()
    for line in strange.split(b"\n"):
        try:
            line.decode("utf-8-sig")
        except UnicodeDecodeError:
            bad.append(line)
        else:
            good.append(line)
    if len(good) <= len(bad) or not encoded_twice(b"\n".join(good).decode("cp1252", "replace"))[0]:
        return ""
    return guess_encoding(b"\n".join(bad)).encoding


def _strange_lines(path: Path, found: Scan) -> bytes:
    """Return the lines that are not ASCII, of a small file all."""
    with path.open("rb") as file:
        content = file.read(_MOST_GUESSED + 1)
    if len(content) > _MOST_GUESSED:
        content = found.odd
    return b"\n".join(re.findall(rb"[^\r\n]*[\x80-\xff][^\r\n]*", content))[:65536]


def plain_copy(path: Path, decoding: Decoding, folder: Path, tell: Advance) -> Path:
    """Write the file again as UTF-8 with LF line ends, the one form that DuckDB always reads.

    Raises
    ------
    InputError
        If the encoding is unknown or does not fit.
    """
    target, encoding = folder / "plain.csv", decoding.encoding
    errors = "replace" if decoding.tolerant else "strict"
    if decoding.beside:
        errors = f"aucstudio-{decoding.beside}"
        codecs.register_error(errors, functools.partial(_read_beside, encoding=decoding.beside))
    size, line = max(path.stat().st_size, 1), 1
    try:
        with path.open("rb") as raw, target.open("w", encoding="utf-8", newline="\n") as copy:
            text = io.TextIOWrapper(raw, encoding=_with_bom(encoding), errors=errors, newline=None)
            while chunk := text.read(CHUNK):
                copy.write(chunk.replace("\0", "") if decoding.nuls else chunk)
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


def _read_beside(error: UnicodeError, encoding: str) -> tuple[str, int]:
    """Read the bytes that an encoding lacks in another one."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode(encoding, "replace"), error.end


def _with_bom(encoding: str) -> str:
    # "utf-8-sig" drops a byte-order mark; the others do so by themselves.
    return "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding


def head_of(path: Path) -> tuple[str, bool]:
    """Read the first rows of a UTF-8 file; the second value is whether that was all."""
    pieces: list[bytes] = []
    lines = rows = quotes = 0
    with path.open("rb") as file:
        while lines < SAMPLE_LINES or (rows < SAMPLE_LINES and len(pieces) < _MOST_PIECES):
            piece = file.read(SAMPLE)
            if not piece:
                break
            pieces.append(piece)
            lines += piece.count(b"\n")
            # A line end between two quotation marks is within a row.
            parts = piece.split(b'"')
            rows += sum(part.count(b"\n") for part in parts[quotes % 2 :: 2])
            quotes += len(parts) - 1
            is_lacking = len(pieces) == 1 and rows < SAMPLE_LINES <= lines
            if is_lacking and quotes % 2 and _stays_open(path, file.tell()):
                break
        whole = not file.read(1)
    data = b"".join(pieces)
    if not whole:
        data = data[: data.rfind(b"\n") + 1]
    return data.decode("utf-8-sig"), whole


def _stays_open(path: Path, end: int) -> bool:
    """Return whether a quoted cell that begins before a byte is never closed in a long file."""
    size = path.stat().st_size
    if size <= _MOST_PIECES * SAMPLE:
        return False
    opened = last_open_quote(path)
    return opened is not None and size - opened[1] < end


def refuse_endless(path: Path, plain: Path, text: str, delimiter: str, quote: str) -> None:
    """Refuse more columns than are read, and a quoted cell that is longer than any row.

    Parameters
    ----------
    path, plain : Path
        The file that was given, and the same as UTF-8.
    text : str
        Its first lines.
    delimiter, quote : str
        As far as they are known.

    Raises
    ------
    InputError
    """
    for line in text.split("\n"):
        if len(line) > MOST_COLUMNS and '"' not in line:
            refuse_columns(path, 1 + max(map(line.count, {*",;\t|", delimiter} - {""})))
    place = last_open_quote(plain) if quote == '"' else None
    if place is not None and place[1] > LONGEST_ROW:
        raise InputError(
            f"{path}, line {place[0]}: a cell begins with a quotation mark that is not closed in "
            f"{bytes_words(place[1])}; close it, or read the file without quotation marks "
            '(quote "none")',
            file=str(path),
            line=place[0],
            setting="quote",
        )


def last_open_quote(path: Path) -> tuple[int, int] | None:
    """Return where the last quotation mark of a file opens a cell, which is then never closed.

    Returns
    -------
    pair of int, or None
        The line, counted from 1, and the bytes from the mark to the end; None where the last mark
        stands elsewhere, or there is none.
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
                if before not in b",;\t|\n":
                    return None
                return lines_at(path, [place])[0], size - place
            end = start
    return None


def holds_blank_lines(path: Path) -> bool:
    """Return whether a file whose lines all end alike may have blank ones."""
    with path.open("rb") as file:
        last = b"\n"
        for chunk in chunks(file):
            piece = last + chunk
            if b"\n\n" in piece or b"\n\r\n" in piece:
                return True
            last = piece[-2:]
    return False


def lines_at(path: Path, offsets: list[int]) -> list[int]:
    """Return the line, counted from 1, in which the text at each byte offset begins."""
    lines, line, place = [], 1, 0
    with path.open("rb") as file:
        for offset in sorted(offsets):
            while place < offset and (chunk := file.read(min(CHUNK, offset - place))):
                line += chunk.count(b"\n")
                place += len(chunk)
            here = file.read(CHUNK)
            file.seek(place)
            # Blank lines before a row belong to it in DuckDB's view.
            blank = len(here) - len(here.lstrip(b"\r\n"))
            lines.append(line + here[:blank].count(b"\n"))
    return lines
