"""What a packaged program runs first; the installed command runs ``aucstudio.__main__`` itself."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import sys
import types
from pathlib import Path


def keep_machine_code() -> None:
    """Name the folder for compiled functions, one for each build; remove those of other builds."""
    import platformdirs

    built = int(Path(sys.executable).stat().st_mtime)
    folder = platformdirs.user_cache_path("aucstudio", appauthor=False) / "code" / str(built)
    with contextlib.suppress(OSError):
        if not folder.exists():
            shutil.rmtree(folder.parent, ignore_errors=True)
            folder.mkdir(parents=True)
        os.environ.setdefault("NUMBA_CACHE_DIR", str(folder))


if __name__ == "__main__":
    # A library that starts processes by multiprocessing must not start the program instead.
    multiprocessing.freeze_support()
    keep_machine_code()
    # PyQtGraph imports it for meshes drawn by OpenGL, which the program has none of.
    sys.modules["PySide6.QtOpenGL"] = types.ModuleType("PySide6.QtOpenGL")
    from aucstudio.__main__ import main

    raise SystemExit(main())
