"""Make the README's pictures: the program itself, run on its example study without a display.

Usage: packaging/make_screenshots.py [FOLDER]; the default is resources/screenshots.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"
WANTED = {"light": {"ROC": "roc"}, "dark": {"Difference vectors": "differences"}}


def main() -> None:
    """Run the study once and paint it in both themes."""
    from aucstudio.gui.pictures import save_pictures
    from aucstudio.project.examples.demo import run_demo

    root = Path(__file__).resolve().parent.parent
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "resources" / "screenshots"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AUCSTUDIO_HOME"] = folder
        demo = run_demo(Path(folder))
        for theme, titles in WANTED.items():
            pictures = save_pictures(demo.project, Path(folder), theme)
            for title, name in titles.items():
                (target / f"{name}-{theme}.png").write_bytes(pictures[title].read_bytes())


if __name__ == "__main__":
    main()
