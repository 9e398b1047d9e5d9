"""What goes into a packaged program and what stays out; the same on every system."""

from __future__ import annotations

import platform
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IDENTIFIER = "io.github.aucstudio.AUCStudio"
BUILD = ROOT / "build"

METADATA = ("numpy", "scipy", "scikit-learn", "cvxopt")
"""Distributions whose version the program asks for."""

WHOLE = ("cvxopt", "onnx")
"""Packages whose modules import each other in ways that PyInstaller does not see."""

HIDDEN = ("numba._devicearray",)
"""Modules that compiled code imports."""

EXCLUDED = [
    "IPython",
    "PIL",
    "PyQt5",
    "PyQt6",
    "PySide6.QtNetwork",
    "PySide6.QtOpenGL",
    "PySide6.QtQml",
    "PySide6.QtQuick",
    "PySide6.QtSql",
    "PySide6.QtTest",
    "cvxopt.dsdp",
    "cvxopt.fftw",
    "cvxopt.glpk",
    "cvxopt.gsl",
    "cvxopt.msk",
    "cvxopt.umfpack",
    "doctest",
    "duckdb.experimental",
    "jedi",
    "llvmlite.tests",
    "matplotlib",
    "mypy",
    "numba.cuda",
    "numba.tests",
    "onnx.backend.test",
    "onnx.reference",
    "pandas",
    "polars",
    "pydoc_data",
    "pyarrow",
    "pyqtgraph.canvas",
    "pyqtgraph.console",
    "pyqtgraph.examples",
    "pyqtgraph.flowchart",
    "pyqtgraph.jupyter",
    "pyqtgraph.opengl",
    "pytest",
    "setuptools",
    "sympy",
    "tkinter",
    "torch",
]

# Modules of Qt that nothing imports, display systems without a desktop, and a plugin that would
# bring the whole of GTK; file dialogs of the desktop come through its portal.
_NOT_NEEDED = re.compile(
    r"(^|/)tests?/"
    r"|PySide6/(Qt/)?translations/"
    r"|Qt6?(Network|Pdf|Qml|Quick|Sql|Test|VirtualKeyboard|EglF[Ss])\w*[.]"
    r"|plugins/(designer|egldeviceintegrations|generic|networkinformation|qml\w+|sqldrivers|tls"
    r"|vectorimageformats|wayland-graphics-integration-server)/"
    r"|plugins/platforms/\w*(eglfs|linuxfb|minimal|vkkhrdisplay|vnc)"
    r"|plugins/platforminputcontexts/\w*virtualkeyboard"
    r"|plugins/platformthemes/\w*gtk"
    r"|plugins/imageformats/\w*q(pdf|tga|tiff|webp|wbmp|icns)\b"
    r"|[.](c|cpp|h|proto|pxd|pyi|pyx|tp)$|/meson[.]build$|[.]dist-info/RECORD$"
    r"|pyqtgraph/icons/peegee/|sklearn/datasets/(descr|images)/"
)


def own_modules() -> list[str]:
    """Return the name of every module of the program; some are imported by name only."""
    package = ROOT / "aucstudio"
    names = (path.relative_to(ROOT).with_suffix("").parts for path in package.rglob("*.py"))
    return sorted(".".join(parts).removesuffix(".__init__") for parts in names)


def own_data() -> list[tuple[str, str]]:
    """Return the files that modules of the program read beside them, and the folder of each."""
    package = ROOT / "aucstudio"
    files = (path for path in package.rglob("*.*") if "__pycache__" not in path.parts)
    code = (".py", ".md", ".typed")
    return [
        (str(path), str(path.parent.relative_to(ROOT))) for path in files if path.suffix not in code
    ]


def is_needed(path: str) -> bool:
    """Return whether a collected file stays, by its path in the frozen folder."""
    return _NOT_NEEDED.search(path.replace("\\", "/")) is None


def needed_libraries(binaries: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return collected binaries without those that are not needed, and what only these load.

    Parameters
    ----------
    binaries : list of (path in the folder, file, kind)
    """
    from PyInstaller.depend.bindepend import get_imports

    kept = [entry for entry in binaries if is_needed(entry[0])]
    loads = {
        path: {Path(name).name for name, _found in get_imports(file)} for path, file, _ in kept
    }
    while True:
        wanted = set().union(*(loads[path] for path, _file, _kind in kept))
        # Libraries of the system lie at the top; the starter loads that of Python itself.
        used = [
            entry
            for entry in kept
            if "/" in entry[0]
            or not entry[0].startswith("lib")
            or entry[0].startswith("libpython")
            or entry[0] in wanted
        ]
        if len(used) == len(kept):
            return kept
        kept = used


def version() -> str:
    """Return the version of the program."""
    text = (ROOT / "aucstudio" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'__version__ = "(.+)"', text)
    assert found is not None
    return found[1]


def icon(windows: bool, mac: bool) -> str | None:
    """Return the picture that a program file carries, where it can carry one."""
    return str(BUILD / "aucstudio.png") if windows or mac else None


def mac_plist() -> dict[str, object]:
    """Return the files that macOS opens with the program."""
    kinds = {"AUC Studio project": ["aucproj"], "AUC Studio model": ["aucmodel"], "Table": ["csv"]}
    return {
        "CFBundleShortVersionString": version(),
        "NSHighResolutionCapable": True,
        "CFBundleDocumentTypes": [
            {"CFBundleTypeName": name, "CFBundleTypeExtensions": endings, "CFBundleTypeRole": role}
            for (name, endings), role in zip(
                kinds.items(), ("Editor", "Viewer", "Viewer"), strict=True
            )
        ],
    }


DEBIAN_DEPENDS = ("fontconfig-config", "fonts-dejavu-core", "libegl1", "libgl1", "libxcb-cursor0")
"""What the frozen program takes from a Debian system: the drivers of its display, and a font."""


def debian_control(architecture: str, kilobytes: int) -> str:
    """Return the control file of the Debian package."""
    return f"""\
Package: aucstudio
Version: {version()}
Architecture: {architecture}
Maintainer: The AUC Studio authors
Installed-Size: {kilobytes}
Depends: libc6 (>= {glibc()}), {", ".join(DEBIAN_DEPENDS)}
Section: science
Priority: optional
Description: train classifiers for the ROC curve
 Methods that maximise the area under the ROC curve, or the part of it in the
 false-positive range that is acceptable, in a desktop window and on the
 command line. Runs are compared with confidence intervals and tests; models
 score new tables and are exported to ONNX, Python and JSON.
"""


def glibc() -> str:
    """Return the version of the C library of this system, which the package needs at least."""
    name, number = platform.libc_ver()
    if name != "glibc":
        raise SystemExit("a Debian package is built on a system with the GNU C library")
    return number
