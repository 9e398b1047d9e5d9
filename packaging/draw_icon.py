"""Draw the icon as PNG, from which Windows and macOS get theirs: draw_icon.py FILE."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

SIDE = 512

if __name__ == "__main__":
    application = QGuiApplication(["draw_icon", "-platform", "offscreen"])
    icon = Path(__file__).resolve().parent.parent / "resources" / "icons" / "aucstudio.svg"
    image = QImage(SIDE, SIDE, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(str(icon)).render(painter)
    painter.end()
    target = Path(sys.argv[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    if not image.save(str(target)):
        raise SystemExit(f"cannot write {target}")
