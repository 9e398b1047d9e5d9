"""Zip and tar archives."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import IO

from aucstudio.project.data.readers.compressed import check_swelling, write_bounded
from aucstudio.project.data.readers.format import FILE, Advance, ReadOptions, Written
from aucstudio.project.data.readers.sheets import about_parts, pick_part
from aucstudio.project.errors import input_error

_CHUNK = 1 << 20
_LOCKED = 1
# Members of archives that are not tables.
_CLUTTER = ("__macosx", ".")
_DOCUMENT = re.compile(
    r"(^|/)(index$|readme|licen[cs]e|changelog|copying|notice|citation)[^/]*$|"
    r"(^|/)[^/]*(code[ _-]?book|dictionary|data[ _-]?description)[^/]*$|"
    r"\.(md|pdf|html?|docx?|rtf|png|jpe?g|gif|py|r|ipynb|names)$",
    re.IGNORECASE,
)
# Endings of tables; other members may be descriptions.
_TABLE = re.compile(
    r"\.(csv|tsv|tab|psv|dat|data|parquet|pq|feather|arrow|xls[xmb]?|ods|sas7bdat|xpt|dta|z?sav|por|"
    r"arff|jsonl|ndjson|sqlite3?|duckdb|db)(\.(gz|bz2|xz|zst))?$",
    re.IGNORECASE,
)


def write_zip(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    with zipfile.ZipFile(path) as archive:
        infos = {info.filename: info for info in archive.infolist() if not info.is_dir()}

        def member(name: str) -> IO[bytes]:
            if infos[name].flag_bits & _LOCKED:
                raise input_error("archive_locked", file=path)
            return archive.open(infos[name])

        sizes = {name: info.file_size for name, info in infos.items()}
        return _write(path, target, options, report, sizes, member)


def write_tar(path: Path, target: Path, options: ReadOptions, report: Advance) -> Written:
    with tarfile.open(path, "r:") as archive:
        infos = {info.name.removeprefix("./"): info for info in archive if info.isfile()}

        def member(name: str) -> IO[bytes]:
            file = archive.extractfile(infos[name])
            assert file is not None
            return file

        sizes = {name: info.size for name, info in infos.items()}
        return _write(path, target, options, report, sizes, member)


def _write(
    path: Path,
    target: Path,
    options: ReadOptions,
    report: Advance,
    sizes: Mapping[str, int],
    open_member: Callable[[str], IO[bytes]],
) -> Written:
    names = [name for name in sizes if not _is_clutter(name)]
    # With a single member, the requested name may be a part of that member.
    asked = (
        ReadOptions(enough=options.enough)
        if len(names) == 1 and options.part not in names
        else options
    )
    tables = [name for name in names if not _DOCUMENT.search(name)]
    name = pick_part(
        path,
        "member",
        names,
        asked,
        lambda n: n in (tables or names),
        lambda n: _TABLE.search(n) is None,
    )
    packed = max(path.stat().st_size, 1)
    check_swelling(path, packed, sizes[name])
    with open_member(name) as member:
        size = max(sizes[name], 1)
        write_bounded(
            path,
            iter(lambda: member.read(_CHUNK), b""),
            target,
            packed,
            lambda: report(min(member.tell() / size, 1.0)),
            options.enough,
        )
    chosen = name if len(names) > 1 else ""
    return Written(
        FILE,
        remarks=tuple(about_parts("member", name, names)),
        part=chosen,
        parts=tuple(names) if chosen else (),
        name=PurePosixPath(name).name,
    )


def _is_clutter(name: str) -> bool:
    return name.lower().startswith(_CLUTTER) or PurePosixPath(name).name.startswith(".")
