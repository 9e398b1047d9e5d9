"""Say which system libraries Qt misses on this machine, and which packages bring them.

Qt loads its display plug-in only when a window program starts and then reports a missing library
by ending the process. Asking the linker first gives all names at once.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

LINUX = sys.platform.startswith("linux")
# Library: (Debian and Ubuntu package, Fedora package).
PACKAGES = {
    "libEGL.so.1": ("libegl1", "libglvnd-egl"),
    "libGL.so.1": ("libgl1", "libglvnd-glx"),
    "libX11-xcb.so.1": ("libx11-xcb1", "libX11-xcb"),
    "libX11.so.6": ("libx11-6", "libX11"),
    "libdbus-1.so.3": ("libdbus-1-3", "dbus-libs"),
    "libfontconfig.so.1": ("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": ("libfreetype6", "freetype"),
    "libglib-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libgthread-2.0.so.0": ("libglib2.0-0", "glib2"),
    "libstdc++.so.6": ("libstdc++6", "libstdc++"),
    "libwayland-client.so.0": ("libwayland-client0", "libwayland-client"),
    "libwayland-cursor.so.0": ("libwayland-cursor0", "libwayland-cursor"),
    "libxcb-cursor.so.0": ("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm.so.4": ("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": ("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": ("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-randr.so.0": ("libxcb-randr0", "libxcb"),
    "libxcb-render-util.so.0": ("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-render.so.0": ("libxcb-render0", "libxcb"),
    "libxcb-shape.so.0": ("libxcb-shape0", "libxcb"),
    "libxcb-shm.so.0": ("libxcb-shm0", "libxcb"),
    "libxcb-sync.so.1": ("libxcb-sync1", "libxcb"),
    "libxcb-util.so.1": ("libxcb-util1", "xcb-util"),
    "libxcb-xfixes.so.0": ("libxcb-xfixes0", "libxcb"),
    "libxcb-xkb.so.1": ("libxcb-xkb1", "libxcb"),
    "libxcb.so.1": ("libxcb1", "libxcb"),
    "libxkbcommon-x11.so.0": ("libxkbcommon-x11-0", "libxkbcommon-x11"),
    "libxkbcommon.so.0": ("libxkbcommon0", "libxkbcommon"),
    "libz.so.1": ("zlib1g", "zlib"),
    "libzstd.so.1": ("libzstd1", "libzstd"),
    "fonts": ("fonts-dejavu-core", "dejavu-sans-fonts"),
}
NOT_FOUND = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)
# A process of its own: Qt aborts where it cannot start.
PROBE = """
from PySide6 import QtGui, QtWidgets
application = QtGui.QGuiApplication([])
print(QtGui.QFontInfo(QtGui.QFont()).family())
"""


def missing_libraries(ldd_output: str) -> set[str]:
    """Names of the libraries that ``ldd`` could not find."""
    return set(NOT_FOUND.findall(ldd_output))


def packages(libraries: Iterable[str], distribution: int) -> list[str]:
    """Packages of one distribution (0: Debian, 1: Fedora) that bring the libraries we know."""
    return sorted({PACKAGES[name][distribution] for name in libraries if name in PACKAGES})


def platforms(environment: dict[str, str]) -> list[str]:
    """Display plug-ins that Qt may use here: any one of them is enough."""
    if chosen := environment.get("QT_QPA_PLATFORM"):
        return [name.split(":")[0] for name in chosen.split(";")]
    displays = {"WAYLAND_DISPLAY": "wayland", "DISPLAY": "xcb"}
    return [plugin for name, plugin in displays.items() if environment.get(name)] or ["offscreen"]


def ask_linker(files: Iterable[Path]) -> set[str]:
    """Libraries the linker cannot find for these files; none where there is no ``ldd`` to ask."""
    if shutil.which("ldd") is None:
        return set()
    command = ["ldd", *map(str, files)]
    return missing_libraries(
        subprocess.run(command, capture_output=True, text=True, check=False).stdout
    )


def find_missing(environment: dict[str, str]) -> set[str]:
    """Missing libraries for the display plug-in that misses the fewest."""
    found = importlib.util.find_spec("PySide6")
    if found is None or found.origin is None:
        raise SystemExit("PySide6 is not installed in this Python: run packaging/run first.")
    folder = Path(found.origin).parent
    modules = [*folder.glob("QtGui.*.so"), *folder.glob("QtWidgets.*.so")]
    plugins = folder / "Qt" / "plugins" / "platforms"
    choices = (plugins.glob(f"libq{name}*.so") for name in platforms(environment))
    return min((ask_linker([*modules, *files]) for files in choices), key=len)


def start_qt(environment: dict[str, str]) -> tuple[str, str]:
    """Start Qt: the font it writes with ('' for none), and its complaint where it fails."""
    command = [sys.executable, "-P", "-c", PROBE]
    if LINUX:
        environment = environment | {"QT_QPA_PLATFORM": ";".join(platforms(environment))}
    try:
        probe = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
    except subprocess.TimeoutExpired:
        return "", "no answer from the display within a minute"
    if probe.returncode != 0:
        return "", probe.stderr.strip() or f"nothing (exit status {probe.returncode})"
    return probe.stdout.strip(), ""


def explain(missing: Iterable[str]) -> str:
    """Each missing part with its packages, and the commands that install them."""
    unknown = ("not known here", "not known here")
    rows = [(name, *PACKAGES.get(name, unknown)) for name in sorted(missing)]
    table = [("missing", "Debian, Ubuntu", "Fedora"), *rows]
    lines = [f"  {name:<26}{debian:<24}{fedora}" for name, debian, fedora in table]
    for command, distribution in (("apt-get", 0), ("dnf", 1)):
        if names := packages(missing, distribution):
            lines.append(f"Install with: sudo {command} install {' '.join(names)}")
    return "\n".join(["Qt needs parts of the system that are not installed:", *lines])


def find_trouble() -> tuple[set[str], str]:
    """Missing parts by name, or Qt's complaint where all are there and it still fails."""
    environment = dict(os.environ)
    if LINUX and (missing := find_missing(environment)):
        return missing, ""
    font, complaint = start_qt(environment)
    return set() if font or complaint else {"fonts"}, complaint


def main(arguments: list[str] | None = None) -> int:
    """Return 0 where Qt can start, otherwise 1 after saying what it needs."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument(
        "--debian-packages", action="store_true", help="print only the missing Debian packages"
    )
    names_only = parser.parse_args(arguments).debian_packages
    missing, complaint = find_trouble()
    if names_only:
        sys.stdout.write(" ".join(packages(missing, 0)) + "\n")
    elif missing:
        sys.stderr.write(explain(missing) + "\n")
    elif complaint:
        sys.stderr.write(f"Qt does not start here. It says:\n{complaint}\n")
    return int(bool(missing or complaint))


if __name__ == "__main__":
    raise SystemExit(main())
