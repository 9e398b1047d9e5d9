"""How the bytes of a file become characters, and the first of these."""

from __future__ import annotations

import codecs
import dataclasses
import functools
import io
import re
from pathlib import Path

from aucstudio.project.data.text.codepages import encoded_twice, guess_encoding
from aucstudio.project.data.text.records import LONGEST_ROW
from aucstudio.project.data.text.scan import CHUNK, SAMPLE, SAMPLE_LINES, Advance, Scan, chunks
from aucstudio.project.errors import InputError
from aucstudio.project.inputs import MOST_COLUMNS, refuse_columns
from aucstudio.project.words import bytes_words

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
        """Whether the bytes are UTF-8 as they stand."""
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
    strange = _strange_lines(path, found)
    if other := _among_utf8(strange):
        wrong = f"some lines are not UTF-8 and read as {other}, the others as UTF-8"
        return Decoding("utf-8", False, (*told, wrong), beside=other, nuls=found.nuls)
    guess = guess_encoding(strange)
    sentence = f"the encoding is not UTF-8; read as {guess.encoding}"
    if guess.other:
        one, other = guess.words
        sentence += f", where a word is {one!r}; in {guess.other} it would be {other!r}"
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
    opened = last_opened(path)
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
    place = last_opened(plain) if quote == '"' else None
    if place is not None and place[1] > LONGEST_ROW:
        raise InputError(
            f"{path}, line {place[0]}: a cell begins with a quotation mark that is not closed in "
            f"{bytes_words(place[1])}; close it, or read the file without quotation marks "
            '(quote "none")',
            file=str(path),
            line=place[0],
            setting="quote",
        )


def last_opened(path: Path) -> tuple[int, int] | None:
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
