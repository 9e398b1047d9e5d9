"""Face, axes and layers of the ROC page stay as a person last chose them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu

from aucstudio.gui.pages.roc.controls import RocControls
from aucstudio.gui.state.preferences import preferences

_EDITS = ("train_in_range_action",)  # of the plan, not of what is shown


def remember_choices(choices: RocControls) -> None:
    """Choose what was chosen last, and keep what is chosen from now on."""
    kept = preferences().now.roc
    for name, combo in (
        ("face", choices.face_combo),
        ("axes", choices.axis_combo),
        ("curves", choices.curve_combo),
    ):
        if (index := combo.findData(getattr(kept, name))) >= 0:
            combo.setCurrentIndex(index)
        combo.activated.connect(
            lambda _index, name=name, combo=combo: _keep(**{name: combo.currentData()})
        )
    choices.choose(kept.confidence, kept.area)
    choices.on_confidence(lambda: _keep(confidence=choices.confidence))
    choices.on_area(lambda: _keep(area=choices.area))
    for action in _switches(choices.show_menu):
        name = action.objectName()
        if kept.layers.get(name, action.isChecked()) != action.isChecked():
            action.trigger()
        action.triggered.connect(lambda on, name=name: _keep_layer(name, on))


def _switches(menu: QMenu) -> Iterator[QAction]:
    for action in menu.actions():
        if action.isCheckable() and action.objectName() not in _EDITS:
            yield action


def _keep(**changes: Any) -> None:
    preferences().put(roc=msgspec.structs.replace(preferences().now.roc, **changes))


def _keep_layer(name: str, on: bool) -> None:
    _keep(layers={**preferences().now.roc.layers, name: on})
