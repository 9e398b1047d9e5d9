"""Make the README's picture: the program itself, run on an example study without a display.

Usage: packaging/make_screenshots.py [FOLDER]; the default is resources/screenshots.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

os.environ["QT_QPA_PLATFORM"] = "offscreen"
STUDY = "two-scorers"


def main() -> None:
    """Run the study and save its ROC page."""
    from aucstudio.gui.pictures import save_pictures
    from aucstudio.project.examples.demo import run_demo

    root = Path(__file__).resolve().parent.parent
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "resources" / "screenshots"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["AUCSTUDIO_HOME"] = folder
        demo = run_demo(Path(folder), STUDY)
        picture = save_pictures(demo.project, Path(folder))["ROC"]
        _with_palette(QImage(str(picture))).save(str(target / "roc-light.png"), quality=0)


def _with_palette(image: QImage) -> QImage:
    """Return an image in its 256 most frequent colours: a third of the bytes."""
    pixels = memoryview(image.convertToFormat(QImage.Format.Format_RGB32).constBits()).cast("I")
    palette = [colour for colour, _ in Counter(pixels).most_common(256)]
    flags = Qt.ImageConversionFlag.AvoidDither | Qt.ImageConversionFlag.ThresholdDither
    return image.convertToFormat(QImage.Format.Format_Indexed8, palette, flags)


if __name__ == "__main__":
    main()
