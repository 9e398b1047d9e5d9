"""Location of resource files, installed or in a checkout."""

from __future__ import annotations

from pathlib import Path

import aucstudio


def resource_path(*parts: str) -> Path:
    """Return the path of a file under ``resources``."""
    package = Path(aucstudio.__file__).parent
    installed = package / "resources"
    base = installed if installed.is_dir() else package.parent / "resources"
    return base.joinpath(*parts)
