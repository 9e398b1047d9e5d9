"""Preferences of the user, in one file.

Settings of a study are stored in its project. The file is shared by all windows of all running
programs, and a newer program may store keys there that this one does not know. Therefore only the
changes made here are written into the present content of the file.
"""

from __future__ import annotations

import contextlib
import json
import threading
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from PySide6.QtCore import QCoreApplication, QObject, Signal

from aucstudio.gui.state.background import delayed
from aucstudio.project import typed
from aucstudio.project.data.import_choices import ImportChoices
from aucstudio.project.errors import InputError
from aucstudio.project.store.files import write_atomically
from aucstudio.project.store.project.project_file import merged_plans
from aucstudio.project.store.workspace import home

_PAUSE = 500  # milliseconds after the last change, so that a dragged window is written once
_MOST_RECENT = 6
_MOST_IMPORTS = 30

Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Length = Annotated[float, msgspec.Meta(gt=0.0)]


class WindowPlace(msgspec.Struct, frozen=True):
    """Position of a window: left, top, width and height in pixels."""

    rect: tuple[int, int, int, int]
    maximised: bool = False


class TableLook(msgspec.Struct, frozen=True):
    """Layout of a table: keys of columns from left to right.

    Attributes
    ----------
    shown : tuple of str, optional
        None for the default columns.
    widths : mapping of str to int
    sorted_by : str
        Empty for none.
    descending : bool
    """

    shown: tuple[str, ...] | None = None
    widths: dict[str, int] = {}
    sorted_by: str = ""
    descending: bool = False


class FigureRules(msgspec.Struct, frozen=True):
    """Size and style of exported pictures.

    Attributes
    ----------
    width, height : float
        In mm.
    font, line : float
        Text size and width of a run's line in points; other lines are in proportion.
    light : bool
        Whether colours are those of the light theme, or as on screen.
    dpi : int
        Pixels per inch of a PNG.
    caption : bool
        Whether the view's sentence is shown below.
    """

    width: Length = 85.0
    height: Length = 68.0
    font: Length = 8.0
    line: Length = 1.0
    light: bool = True
    dpi: Annotated[int, msgspec.Meta(ge=36, le=2400)] = 300
    caption: bool = False


class KnownImport(msgspec.Struct, frozen=True):
    """Import settings with which a file was last opened.

    Attributes
    ----------
    path : str
    size : int
        In bytes.
    sha256 : str
    choices : ImportChoices
    """

    path: str
    size: int
    sha256: str
    choices: ImportChoices


class Preferences(msgspec.Struct, frozen=True):
    """Every preference with its default.

    Attributes
    ----------
    theme : "system", "light" or "dark"
    text_size : int
        In percent of the desktop's font.
    runs_at_once : int
    fpr_range : (float, float)
        Range of a new study.
    windows : mapping of a window's name to WindowPlace
    splitters : mapping of a splitter's name to its sizes
    tables : mapping of a table's name to TableLook
    choices : mapping of the name of a list to its last choice
    layers : mapping of the name of a layer of the ROC page to whether it is shown
    folders : mapping of the kind of a dialog to its last folder
    figure : FigureRules
    recent_methods : tuple of str
        Latest first.
    imports : tuple of KnownImport
        Latest first.
    best_minutes : float
        Last time limit of Find the best.
    """

    theme: Literal["system", "light", "dark"] = "system"
    text_size: Annotated[int, msgspec.Meta(ge=100, le=200)] = 100
    runs_at_once: Annotated[int, msgspec.Meta(ge=1)] = 1
    fpr_range: tuple[Share, Share] = (0.0, 0.1)
    windows: dict[str, WindowPlace] = {}
    splitters: dict[str, tuple[int, ...]] = {}
    tables: dict[str, TableLook] = {}
    choices: dict[str, str] = {}
    layers: dict[str, bool] = {}
    folders: dict[str, str] = {}
    figure: FigureRules = FigureRules()
    recent_methods: tuple[str, ...] = ()
    imports: tuple[KnownImport, ...] = ()
    best_minutes: Annotated[float, msgspec.Meta(ge=0.1, le=10_080)] = 5.0

    def __post_init__(self) -> None:
        if not self.fpr_range[0] < self.fpr_range[1]:
            raise ValueError("the lower end of the FPR range must be below the upper end")


_TYPES = {field.name: field.type for field in msgspec.structs.fields(Preferences)}


class PreferencesFile(QObject):
    """Reads the file once, and writes changes shortly afterwards in the background.

    Parameters
    ----------
    path : Path
    parent : QObject, optional

    Attributes
    ----------
    now : Preferences
    problem : str
        Message about a file that could not be read; empty if it was read.
    """

    changed = Signal(object)  # the names of preferences, a set

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = path
        self.problem = ""
        self._writing = threading.Lock()
        self.now = _known_preferences(self._read())
        self._known = _plain(self.now)
        self._soon = delayed(self, _PAUSE, self._begin_to_write)

    def put(self, **changes: Any) -> None:
        """Change preferences by their names.

        Raises
        ------
        ValueError
            If a value is invalid.
        """
        before = self.now
        self.now = typed.convert(_plain(before) | _plain(changes), Preferences)
        if names := {name for name in changes if getattr(before, name) != getattr(self.now, name)}:
            self._soon.start()
            self.changed.emit(names)

    def put_in(self, name: str, key: str, value: Any) -> None:
        """Change one entry of a preference that is a mapping."""
        self.put(**{name: {**getattr(self.now, name), key: value}})

    def note_method(self, method: str) -> None:
        """Put a method first among the recent ones."""
        others = [known for known in self.now.recent_methods if known != method]
        self.put(recent_methods=(method, *others)[:_MOST_RECENT])

    def note_import(self, known: KnownImport) -> None:
        """Put a file first among those with stored import options, or remove it if it has none."""
        others = [one for one in self.now.imports if one.path != known.path]
        first = [known] if known.choices != ImportChoices() else []
        self.put(imports=(*first, *others)[:_MOST_IMPORTS])

    def flush(self) -> None:
        """Write everything before returning."""
        self._soon.stop()
        self._write(_plain(self.now))

    def _begin_to_write(self) -> None:
        threading.Thread(target=self._write, args=(_plain(self.now),), daemon=True).start()

    def _write(self, mine: dict[str, Any]) -> None:
        with self._writing:
            if mine == self._known:
                return
            # An error is ignored: the preferences hold until the window closes.
            with contextlib.suppress(OSError, InputError):
                self.path.parent.mkdir(parents=True, exist_ok=True)
                joined = merged_plans(self._known, mine, self._read())
                write_atomically(self.path, json.dumps(joined, indent=1, sort_keys=True) + "\n")
                self._known = mine

    def _read(self) -> dict[str, Any]:
        try:
            found = json.loads(self.path.read_bytes())
            if not isinstance(found, dict):
                raise ValueError("it has no table of preferences")
        except FileNotFoundError:
            return {}
        except OSError as error:
            self.problem = f"The preferences in {self.path} cannot be read: {error.strerror}."
            return {}
        except (ValueError, RecursionError):
            self._set_aside()
            return {}
        return found

    def _set_aside(self) -> None:
        aside = self.path.with_name(f"{self.path.stem}.damaged{self.path.suffix}")
        with contextlib.suppress(OSError):
            self.path.replace(aside)
        self.problem = (
            f"The preferences in {self.path} were damaged: the program starts with the "
            f"defaults, and the damaged file is kept as {aside.name}."
        )


def preferences() -> PreferencesFile:
    """Return the preferences of the program, shared by all windows."""
    path = home() / "preferences.json"
    if path not in _open:
        _open.clear()
        _open[path] = PreferencesFile(path, QCoreApplication.instance())
    return _open[path]


_open: dict[Path, PreferencesFile] = {}


def _known_preferences(document: dict[str, Any]) -> Preferences:
    """Return the valid preferences of a document; unknown and invalid ones are ignored."""
    known: dict[str, Any] = {}
    for name, kind in _TYPES.items():
        if name in document:
            with contextlib.suppress(msgspec.ValidationError):
                known[name] = typed.convert(document[name], kind)
    try:
        return Preferences(**known)
    except ValueError:
        known.pop("fpr_range", None)
        return Preferences(**known)


def _plain(value: Preferences | dict[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(msgspec.json.encode(value))
    return plain
