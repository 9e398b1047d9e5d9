#!/usr/bin/env python3
"""Make the pictures of the README and the user guide: the program on example studies.

Usage: packaging/make_screenshots.py
Writes resources/screenshots and resources/help/pictures; needs no display.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

os.environ["QT_QPA_PLATFORM"] = "offscreen"
RESOURCES = Path(__file__).resolve().parent.parent / "resources"
WINDOW = (1050, 640)
WIDTH = 680  # of the page of the guide, and of a view of such a window
MOST_SECONDS = 120.0
STUDY, RUN = "payments", "SVM-pAUC"
SEARCH_MINUTES = "0.5"


def main() -> None:
    """Run the studies and save the pictures."""
    from aucstudio.gui.pictures import save_pictures
    from aucstudio.project.examples import run_demo

    with tempfile.TemporaryDirectory() as folder:
        os.environ["AUCSTUDIO_HOME"] = folder
        demo = run_demo(Path(folder), "two-scorers")
        picture = save_pictures(demo.project, Path(folder))["ROC"]
        save(QImage(str(picture)), RESOURCES / "screenshots" / "roc-light.png")
        project = run_demo(Path(folder), STUDY).project
        searched = find_best(project)
        for theme in ("light", "dark"):
            paint_views(Path(shutil.copy(project, project.with_stem(theme))), theme)
            copy = Path(shutil.copy(searched, searched.with_stem(f"best-{theme}")))
            paint_views(copy, theme, only="best_view")


def find_best(project: Path) -> Path:
    """Search for the best model of a study; return a project of its own with the result."""
    searched = project.with_stem("searched")
    data = next(project.parent.glob(f"{STUDY}*.csv"))
    options = ["--fpr-range", "0,0.1", "--minutes", SEARCH_MINUTES, "--project", str(searched)]
    program = [sys.executable, "-m", "aucstudio", "best", str(data)]
    subprocess.run([*program, *options], check=True, stdout=subprocess.DEVNULL)
    return searched


def paint_views(project: Path, theme: str, only: str = "") -> None:
    """Save a picture of the window and of each view, or one view, that has something to show."""
    from aucstudio.gui.main_window import MainWindow
    from aucstudio.gui.pictures import choose_tuned, prepare, wait_until_idle

    application = prepare(theme)
    window = MainWindow()
    window.set_theme(theme)
    window.resize(*WINDOW)
    window.show()
    window.open_now(project)
    runs = [run for run in window.session.shown_runs() if run.look.name.startswith(RUN)]
    if not only:
        window.session.select(runs[0].record.id)
    shown: dict[str, QWidget] = {view.objectName(): view for view in window.views}
    for name, widget in {**shown, "window": window}.items():
        view = shown.get(name, shown["roc_view"])
        if (only and name != only) or not choose_tuned(window.session, view):
            continue
        window.deck.show_view(view)
        end = time.monotonic() + MOST_SECONDS
        wait_until_idle(window)
        while view.busy() and time.monotonic() < end:
            wait_until_idle(window)
        path = RESOURCES / "help" / "pictures" / f"{name.removesuffix('_view')}-{theme}.png"
        smooth = Qt.TransformationMode.SmoothTransformation
        save(widget.grab().toImage().scaledToWidth(WIDTH, smooth), path)
    window.close()
    window.deleteLater()
    application.processEvents()


def save(image: QImage, path: Path) -> None:
    """Save an image in 256 colours, a third of the bytes: the most frequent, exact and rounded."""
    pixels = memoryview(image.convertToFormat(QImage.Format.Format_RGB32).constBits()).cast("I")
    counts = Counter(pixels)
    rounded: Counter[int] = Counter()
    for colour, count in counts.items():
        rounded[colour & 0xFFF0F0F0 | 0x00080808] += count
    palette = [colour for each in (counts, rounded) for colour, _ in each.most_common(128)]
    flags = Qt.ImageConversionFlag.AvoidDither | Qt.ImageConversionFlag.ThresholdDither
    path.parent.mkdir(parents=True, exist_ok=True)
    image.convertToFormat(QImage.Format.Format_Indexed8, palette, flags).save(str(path), quality=0)


if __name__ == "__main__":
    main()
