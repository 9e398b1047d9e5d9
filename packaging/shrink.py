"""Make the frozen folder of Linux smaller: remove what it holds twice, and what nothing reads."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path

# Stripping breaks libraries that were repaired for wheels, whose sections were moved.
_STRIPPED_FROM = 100_000
_JUMP = {"x86_64": "jmp {}@PLT", "aarch64": "b {}"}
# Qt sorts texts and knows calendars by ICU. It splits words and reads encodings itself, and the
# program shows no names of currencies, countries, languages, units or time zones.
_ICU_NOT_NEEDED = re.compile(
    r"[^/]+/((brkitr|curr|lang|rbnf|region|translit|unit|zone)/|[^/]+[.](cnv|spp|cfu)$)"
)


def shrink(folder: Path, machine: str, work: Path) -> None:
    """Shrink a frozen folder.

    Parameters
    ----------
    folder : Path
    machine : {"x86_64", "aarch64"}
    work : Path
        Folder for files of the assembler.
    """
    inside = folder / "_internal"
    share_blas(inside, machine, work)
    shorten_icu(inside / "PySide6" / "Qt" / "lib", work)
    strip(inside)
    link_twins(inside)


def strip(folder: Path) -> None:
    """Remove the symbols that only a debugger reads."""
    for path in folder.rglob("*.so*"):
        repaired = any(part.endswith(".libs") for part in path.parts)
        if path.stat().st_size > _STRIPPED_FROM and not repaired and not path.is_symlink():
            _run("strip", "--strip-unneeded", path)


def share_blas(folder: Path, machine: str, work: Path) -> None:
    """Let cvxopt call the OpenBLAS of SciPy, in place of its own OpenBLAS and ATLAS.

    SciPy's copy has the same functions under names that begin with ``scipy_``. A library that jumps
    from one name to the other takes the place of cvxopt's.
    """
    (target,) = (folder / "scipy.libs").glob("libscipy_openblas-*")
    libraries = sorted((folder / "cvxopt.libs").iterdir())
    own = [path for path in libraries if path.name.startswith(("libopenblas", "libsatlas"))]
    fortran = [path for path in libraries if path.name.startswith(("libgfortran", "libquadmath"))]
    callers = [path for path in libraries if path not in (*own, *fortran)]
    callers += (folder / "cvxopt").glob("*.so")
    called = _symbols("--undefined-only", callers) & _symbols("--defined-only", own)
    absent = {f"scipy_{name}" for name in called} - _symbols("--defined-only", [target])
    if absent:
        raise SystemExit(f"packaging/build: {target.name} lacks {', '.join(sorted(absent))}")
    jumps = [".text"]
    for name in sorted(called):
        jump = _JUMP[machine].format(f"scipy_{name}")
        jumps += [f".globl {name}", f".type {name}, %function", f"{name}: {jump}"]
    for path in (*own, *fortran):
        path.unlink()
    # One file under each name: the loader takes it as one library.
    library, *others = own
    _link_library(library, "\n".join(jumps), work, target, "-rpath", "$ORIGIN/../scipy.libs")
    for path in others:
        path.symlink_to(library.name)
    for path in folder.iterdir():  # PyInstaller's links to libraries that were removed
        if path.is_symlink() and not path.exists():
            path.unlink()


def shorten_icu(folder: Path, work: Path) -> None:
    """Keep of the data of ICU what Qt reads."""
    (library,) = folder.glob("libicudata.so.*")
    data, (symbol,) = library.read_bytes(), _symbols("--defined-only", [library])
    short = work / "icu.dat"
    short.write_bytes(shorten_icu_data(data[data.index(b"CmnD") - 12 :]))
    rows = [".section .rodata", f".globl {symbol}", f".type {symbol}, %object", ".balign 16"]
    rows += [f'{symbol}: .incbin "{short}"', f".size {symbol}, . - {symbol}"]
    _link_library(library, "\n".join(rows), work)


def shorten_icu_data(data: bytes) -> bytes:
    """Return an ICU data package without the items that are not needed.

    A package is a header, whose first two bytes are its length, the number of items, for each item
    the places of its name and of its content, counted from that number on, and these.
    """
    (start,) = struct.unpack_from("<H", data)
    header, body = data[:start], data[start:]
    (count,) = struct.unpack_from("<I", body)
    places = [struct.unpack_from("<II", body, 4 + 8 * item) for item in range(count)]
    ends = [*(content for _name, content in places[1:]), len(body)]
    kept = []
    for (name_at, content_at), end in zip(places, ends, strict=True):
        name = body[name_at : body.index(b"\0", name_at) + 1]
        if not _ICU_NOT_NEEDED.match(name[:-1].decode()):
            content = body[content_at:end]
            kept.append((name, content + bytes(-len(content) % 16)))
    name_at = 4 + 8 * len(kept)
    names = b"".join(name for name, _content in kept)
    names += bytes(-(name_at + len(names)) % 16)
    content_at = name_at + len(names)
    table = struct.pack("<I", len(kept))
    for name, content in kept:
        table += struct.pack("<II", name_at, content_at)
        name_at, content_at = name_at + len(name), content_at + len(content)
    return header + table + names + b"".join(content for _name, content in kept)


def link_twins(folder: Path) -> None:
    """Replace a library that lies in two folders by a link to the first."""
    known: dict[str, Path] = {}
    for path in sorted(folder.glob("*.libs/*")):
        first = known.setdefault(path.name, path)
        if first != path and first.read_bytes() == path.read_bytes():
            path.unlink()
            path.symlink_to(Path("..") / first.relative_to(folder))


def _symbols(which: str, libraries: Iterable[Path]) -> set[str]:
    """Return the names that libraries define or call, without their versions."""
    command = ["nm", "--dynamic", "--no-sort", "--format=posix", which, *map(str, libraries)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in listed.splitlines())
    return {row[0].split("@")[0] for row in rows if len(row) > 1}


def _link_library(library: Path, assembly: str, work: Path, *linked: str | Path) -> None:
    """Assemble a shared library in the place of another one, under its name."""
    source, made = work / "library.s", work / "library.o"
    source.write_text(assembly + '\n.section .note.GNU-stack, "", %progbits\n', encoding="ascii")
    _run("as", "-o", made, source)
    _run("ld", "-shared", "-z", "now", "-soname", library.name, "-o", library, made, *linked)


def _run(*command: str | Path) -> None:
    subprocess.run([str(word) for word in command], check=True)
