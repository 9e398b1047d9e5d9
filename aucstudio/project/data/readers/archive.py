"""Zip archives: one of their members is the table."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from aucstudio.project.data.readers.compressed import check_swelling, write_bounded
from aucstudio.project.data.readers.format import FILE, Advance, Format, Wish, Written, begins
from aucstudio.project.data.readers.parts import note_of_parts, pick_part
from aucstudio.project.errors import InputError

_CHUNK = 1 << 20
_LOCKED = 1
# What archives hold beside tables.
_CLUTTER = ("__macosx", ".")
_DOCUMENT = re.compile(
    r"(^|/)(index$|readme|licen[cs]e|changelog|copying|notice|citation)[^/]*$|"
    r"(^|/)[^/]*(code[ _-]?book|dictionary|data[ _-]?description)[^/]*$|"
    r"\.(md|pdf|html?|docx?|rtf|png|jpe?g|gif|py|r|ipynb|names)$",
    re.IGNORECASE,
)


def member_names(path: Path) -> list[str]:
    """List the members of an archive, clutter aside; none where it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            return [info.filename for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return []


def _write(path: Path, target: Path, wish: Wish, tell: Advance) -> Written:
    with zipfile.ZipFile(path) as archive:
        infos = {
            info.filename: info
            for info in archive.infolist()
            if not info.is_dir() and not _is_clutter(info.filename)
        }
        # A single member leaves the name to what is in it.
        asked = Wish() if len(infos) == 1 and wish.part not in infos else wish
        tables = [name for name in infos if not _DOCUMENT.search(name)]
        name = pick_part(path, "member", list(infos), asked, lambda n: n in (tables or infos))
        info = infos[name]
        if info.flag_bits & _LOCKED:
            raise InputError(
                f"{path} is protected by a password; unpack it first, or save it without one",
                file=str(path),
            )
        packed = max(path.stat().st_size, 1)
        check_swelling(path, packed, info.file_size)
        with archive.open(info) as member:

            def pieces() -> Iterator[bytes]:
                yield from iter(lambda: member.read(_CHUNK), b"")

            size = max(info.file_size, 1)
            write_bounded(
                path,
                pieces(),
                target,
                packed,
                lambda: tell(min(member.tell() / size, 1.0)),
                wish.enough,
            )
    chosen = name if len(infos) > 1 else ""
    return Written(
        FILE,
        notes=tuple(note_of_parts("member", name, list(infos))),
        part=chosen,
        parts=tuple(infos) if chosen else (),
        name=PurePosixPath(name).name,
    )


def _is_clutter(name: str) -> bool:
    return name.lower().startswith(_CLUTTER) or PurePosixPath(name).name.startswith(".")


FORMATS = (
    Format(
        key="zip",
        title="a zip archive",
        plural="Packed tables",
        endings=(".zip",),
        recognises=begins(b"PK\x03\x04", b"PK\x05\x06"),
        write=_write,
        part="member",
        swelling=5.0,
    ),
)
