"""Paint every page and dialog in both themes, two sizes and three scales, to look at them all.

Usage: packaging/render_views.py FOLDER [--study NAME] [--scale 1 1.5 2] [--theme light dark]
Open FOLDER/index.html.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QMenu, QWidget
from view_scenes import arrange, dialog_scenes, the, window_scenes

from aucstudio.gui.common.drawing import png_bytes
from aucstudio.gui.main_window import MainWindow
from aucstudio.gui.pictures import prepare, wait_until_idle
from aucstudio.project.examples import STUDIES, run_demo

SIZES = ((1440, 900), (1000, 700))
THEMES = ("light", "dark")
SCALES = ("1", "1.5", "2")
SCREEN = (1920, 1080)  # Qt's own of 800 × 800 would cut dialogs
TILED = "two-gaussians"  # whose pictures belong side by side


def paint(projects: Sequence[Path], folder: Path, scale: str, theme: str) -> None:
    """Paint everything in one theme, at the scale that this process was started with."""
    application = prepare(theme)
    for size in SIZES:
        with tempfile.TemporaryDirectory() as scratch:
            # A window that is closed writes its layout into its project.
            study, tiled = (Path(shutil.copy(path, scratch)) for path in projects)
            window = MainWindow()
            window.set_theme(theme)
            window.resize(*size)
            window.show()
            save = partial(_save, window, folder, f"{scale}-{theme}-{size[0]}")
            save("welcome", partial(the, window))
            window.open_now(study)
            for name, scene in window_scenes(window).items():
                save(name, scene)
            if size is SIZES[0]:
                for name, scene in dialog_scenes(window).items():
                    save(name, scene)
                window.deck.all_in_one()
            window.open_now(tiled)
            save("tiled", partial(arrange, window, "Feature space and difference vectors"))
            window.close()
            window.deleteLater()
            application.processEvents()


def _save(
    window: MainWindow, folder: Path, kind: str, name: str, scene: Callable[[], QWidget]
) -> None:
    widget = scene()
    if not isinstance(widget, QMenu):
        widget.show()
    wait_until_idle(window)
    path = folder / f"{name.lower().replace(' ', '-')}-{kind}.png"
    path.write_bytes(png_bytes(widget.grab().toImage()))
    if widget is not window:
        widget.close()


def write_index(folder: Path) -> Path:
    """Write the page that shows all pictures, a row for each scene; gives its path."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(folder.glob("*.png")):
        name, *kind = path.stem.rsplit("-", 3)
        found.setdefault(name, {})["-".join(kind)] = path.name
    kinds = sorted({kind for pictures in found.values() for kind in pictures})
    head = "".join(f"<th>{kind}</th>" for kind in kinds)
    rows = "".join(
        f"<tr><th>{html.escape(name)}</th>{''.join(_cell(pictures.get(k)) for k in kinds)}</tr>\n"
        for name, pictures in found.items()
    )
    style = "body{font:14px sans-serif}th{text-align:left;font-weight:normal}img{width:320px}"
    page = f"<!doctype html><meta charset=utf-8><title>Views</title><style>{style}</style>"
    index = folder / "index.html"
    index.write_text(f"{page}<table><tr><th></th>{head}</tr>\n{rows}</table>\n", encoding="utf-8")
    return index


def _cell(name: str | None) -> str:
    if name is None:
        return "<td></td>"
    return (
        f'<td><a href="{html.escape(name)}"><img loading=lazy src="{html.escape(name)}"></a></td>'
    )


def _write_screen(folder: Path, scale: float) -> Path:
    """Write Qt's description of a screen that has the same room at each scale."""
    width, height = (round(scale * side) for side in SCREEN)
    screen = {"name": "screen", "x": 0, "y": 0, "width": width, "height": height}
    resolution = {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
    path = folder / "screen.json"
    path.write_text(json.dumps({"screens": [screen | resolution]}), encoding="utf-8")
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the studies once, then start a process for each scale: Qt reads it when it starts."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--study", choices=STUDIES, default=STUDIES[0])
    parser.add_argument("--scale", nargs="+", default=SCALES)
    parser.add_argument("--theme", nargs="+", choices=THEMES, default=THEMES)
    parser.add_argument("--projects", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.projects:
        for theme in given.theme:
            paint(given.projects, given.folder, given.scale[0], theme)
        return
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["AUCSTUDIO_HOME"] = scratch
        projects = [str(run_demo(Path(scratch), key).project) for key in (given.study, TILED)]
        for scale in given.scale:
            options = ["--projects", *projects, "--scale", scale, "--theme", *given.theme]
            command = [sys.executable, __file__, str(given.folder), *options]
            platform = f"offscreen:configfile={_write_screen(Path(scratch), float(scale))}"
            environment = {**os.environ, "QT_SCALE_FACTOR": scale, "QT_QPA_PLATFORM": platform}
            subprocess.run(command, check=True, env=environment)
    sys.stdout.write(f"{write_index(given.folder)}\n")


if __name__ == "__main__":
    main()
