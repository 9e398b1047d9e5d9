"""Decode a text file, and read its first rows."""

from __future__ import annotations

import codecs
import dataclasses
import functools
import io
import re
from pathlib import Path

from aucstudio.notices.words import bytes_words
from aucstudio.project.data.finding import Finding, remark
from aucstudio.project.data.input_files import MOST_COLUMNS, refuse_columns
from aucstudio.project.data.text.dialect import LONGEST_ROW
from aucstudio.project.data.text.scan import (
    CHUNK,
    SAMPLE,
    SAMPLE_LINES,
    Advance,
    Scan,
    last_open_quote,
)
from aucstudio.project.errors import input_error

# The most bytes from which an encoding is guessed; a smaller file is used as a whole.
_MOST_GUESSED = 1 << 22
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
# The most samples that are read where rows have many lines.
_MOST_PIECES = 16
# Invalid bytes are slips up to this share of the valid multibyte characters.
_FEW_INVALID = 0.1


@dataclasses.dataclass(frozen=True)
class Decoding:
    """How bytes become characters.

    Attributes
    ----------
    encoding : str
    is_sure : bool
        Whether it was given or is certain.
    findings : tuple of Finding
    errors : str
        "strict", "replace", or the encoding of bytes that are invalid in ``encoding``.
    nuls : int
        The number of NUL bytes to leave out.
    """

    encoding: str
    is_sure: bool = True
    findings: tuple[Finding, ...] = ()
    errors: str = "strict"
    nuls: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether the bytes are valid UTF-8."""
        return is_utf8(self.encoding) and self.errors == "strict" and not self.nuls


def is_utf8(encoding: str) -> bool:
    """Return whether a name of an encoding means UTF-8."""
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig", "ascii")


def find_decoding(path: Path, found: Scan, given: str | None, known: str | None) -> Decoding:
    """Return how a file is encoded.

    Parameters
    ----------
    path : Path
    found : Scan
    given : str or None
        What a person set.
    known : str or None
        The encoding of an earlier file of this layout.
    """
    nuls = found.nuls
    findings: tuple[Finding, ...] = (remark("import_nul_bytes", nuls=nuls),) if nuls else ()
    if given is not None:
        return Decoding(given, findings=findings, nuls=nuls)
    if found.encoding is not None and not found.damaged:
        return Decoding(found.encoding, findings=findings, nuls=nuls)
    invalid, line = _invalid_bytes(path, found)
    if invalid:
        findings += (remark("import_invalid_bytes", bytes=invalid, line=line),)
        return Decoding("utf-8", True, findings, "replace", nuls)
    if known is not None and not is_utf8(known):
        return Decoding(known, False, findings, nuls=nuls)
    from aucstudio.project.data.text.codepages import guess_encoding

    lines = _non_ascii_lines(path, found)
    if other := _encoding_of_invalid(lines):
        findings += (remark("import_mixed_encoding", encoding=other),)
        return Decoding("utf-8", False, findings, other, nuls)
    guess = guess_encoding(lines)
    code = "import_encoding_doubt" if guess.other else "import_encoding"
    word, other_word = guess.words
    doubt = {"word": word, "other": guess.other, "other_word": other_word}
    findings += (remark(code, encoding=guess.encoding, **doubt),)
    return Decoding(guess.encoding, False, findings, nuls=nuls)


def _invalid_bytes(path: Path, found: Scan) -> tuple[int, int]:
    """Count the invalid bytes of a file that is nearly UTF-8; also the line of the first."""
    invalid = valid = first = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.isascii():
                valid += len(_MULTIBYTE.findall(line))
                signs = line.decode("utf-8-sig", "replace").count("\ufffd")
                here = signs - line.count(b"\xef\xbf\xbd")
                invalid += here
                first = first or (number if here > 0 else 0)
    few = max(1, int(_FEW_INVALID * valid)) if valid else 0
    return (invalid, first) if found.damaged or 0 < invalid <= few else (0, 0)


def _encoding_of_invalid(lines: bytes) -> str:
    """Return the encoding of the lines that are not UTF-8, if most lines are; else nothing.

    The valid lines must be words: read in another encoding, they look encoded twice.
    """
    from aucstudio.project.data.text.codepages import encoded_twice, guess_encoding

    valid, invalid = list[bytes](), list[bytes]()
    for line in lines.split(b"\n"):
        try:
            line.decode("utf-8-sig")
        except UnicodeDecodeError:
            invalid.append(line)
        else:
            valid.append(line)
    text = b"\n".join(valid).decode("cp1252", "replace")
    if len(valid) <= len(invalid) or not encoded_twice(text)[0]:
        return ""
    return guess_encoding(b"\n".join(invalid)).encoding


def _non_ascii_lines(path: Path, found: Scan) -> bytes:
    """Return the lines with other bytes than ASCII's; of a large file, those of one chunk."""
    with path.open("rb") as file:
        content = file.read(_MOST_GUESSED + 1)
    if len(content) > _MOST_GUESSED:
        content = found.odd
    return b"\n".join(re.findall(rb"[^\r\n]*[\x80-\xff][^\r\n]*", content))[:65536]


def plain_copy(path: Path, decoding: Decoding, folder: Path, progress: Advance) -> Path:
    """Write the file again as UTF-8 with LF line ends, which DuckDB always reads.

    Raises
    ------
    InputError
        If the encoding is unknown or does not fit.
    """
    target, encoding, errors = folder / "plain.csv", decoding.encoding, decoding.errors
    if errors not in ("strict", "replace"):
        errors = f"aucstudio-{errors}"
        handler = functools.partial(_decode_invalid, encoding=decoding.errors)
        codecs.register_error(errors, handler)
    # "utf-8-sig" drops a byte-order mark; other encodings do so by themselves.
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    size, line = max(path.stat().st_size, 1), 1
    try:
        with path.open("rb") as raw, target.open("w", encoding="utf-8", newline="\n") as copy:
            text = io.TextIOWrapper(raw, encoding=codec, errors=errors, newline=None)
            while chunk := text.read(CHUNK):
                copy.write(chunk.replace("\0", "") if decoding.nuls else chunk)
                line += chunk.count("\n")
                progress(min(raw.tell() / size, 1.0))
    except UnicodeError:
        raise input_error("encoding_unfit", file=path, line=line, encoding=encoding) from None
    except LookupError:
        raise input_error("encoding_unknown", encoding=encoding) from None
    return target


def _decode_invalid(error: UnicodeError, encoding: str) -> tuple[str, int]:
    """Decode the bytes that are invalid in one encoding by another one."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode(encoding, "replace"), error.end


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
            opened = last_open_quote(path) if is_lacking and quotes % 2 else None
            # A quoted cell that begins in these bytes is never closed.
            if opened is not None and path.stat().st_size - opened[1] < file.tell():
                break
        whole = not file.read(1)
    data = b"".join(pieces)
    if not whole:
        data = data[: data.rfind(b"\n") + 1]
    return data.decode("utf-8-sig"), whole


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
        size = bytes_words(place[1])
        raise input_error("quote_not_closed", file=path, line=place[0], length=size)
