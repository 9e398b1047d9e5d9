"""The controls of a picture in a plane: which plane, which features, which split."""

from __future__ import annotations

from typing import ClassVar

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout

from aucstudio.gui.planes.subject import Subject, split_of
from aucstudio.gui.session import Session
from aucstudio.gui.view import View
from aucstudio.gui.widgets import named
from aucstudio.project.planes import FEATURES, Plane

_LABELLED = 440  # pixels


class PlaneControls(View):
    """A page with a plane to choose; the split is what the whole session points at.

    A subclass names the planes that it has, and the prefix of its controls' names.
    """

    planes: ClassVar[dict[str, str]]
    prefix: ClassVar[str]

    def __init__(self, session: Session, name: str, title: str) -> None:
        super().__init__(session, name, title)
        self._labels: dict[str, QLabel] = {}
        self._wanted: tuple[str, str] | None = None
        self._make_controls()
        self.controls.addStretch(0)

    def _make_controls(self) -> None:
        self.plane_combo = self.add_combo("plane_combo", "&Plane", "Where the rows are seen from")
        for kind, words in self.planes.items():
            self.plane_combo.addItem(words, kind)
        # A row of their own: names of features are long, and the centre may be narrow.
        row = QHBoxLayout()
        row.setSpacing(8)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertLayout(1, row)
        self.x_feature = self.add_combo("x_feature", "Right", "The feature that runs right", row)
        self.y_feature = self.add_combo("y_feature", "Up", "The feature that runs upwards", row)
        row.addStretch(0)
        self.split_combo = self.add_combo(
            "split", "Split", "Which fit of the run: each has its own training rows"
        )
        self.plane_combo.currentIndexChanged.connect(self.mark_stale)
        self.split_combo.currentIndexChanged.connect(self._on_split)
        self.x_feature.currentIndexChanged.connect(lambda: self._on_feature(0))
        self.y_feature.currentIndexChanged.connect(lambda: self._on_feature(1))

    def add_combo(
        self, name: str, words: str, tip: str, row: QHBoxLayout | None = None
    ) -> QComboBox:
        """Add a choice with its label to the controls, or to a row of long names."""
        combo = named(QComboBox(), self.prefix + name, words.replace("&", ""))
        combo.setToolTip(tip)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        combo.setMinimumWidth(80)
        combo.setMaximumWidth(320)
        label = self._labels[combo.objectName()] = QLabel(words)
        label.setBuddy(combo)
        place = self.controls if row is None else row
        place.addWidget(label)
        place.addWidget(combo)
        return combo

    def show_control(self, combo: QComboBox, shown: bool) -> None:
        """Show a choice with its label only where it means something."""
        combo.setVisible(shown)
        self._labels[combo.objectName()].setVisible(shown and self.width() >= _LABELLED)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Where there is no room for words and choices, the choices say enough.
        for combo in self.findChildren(QComboBox):
            if combo.objectName() in self._labels:
                self.show_control(combo, not combo.isHidden())

    def _on_split(self, index: int) -> None:
        self.session.point_at(split=index)
        self.mark_stale()

    def _on_feature(self, axis: int) -> None:
        x, y = self.x_feature.currentText(), self.y_feature.currentText()
        shown = self.shown_plane()
        if x == y and shown is not None and shown.features is not None:
            # The same feature twice is no plane: the two change places.
            other = self.y_feature if axis == 0 else self.x_feature
            with QSignalBlocker(other):
                other.setCurrentIndex(shown.features[axis])
        self._wanted = self.x_feature.currentText(), self.y_feature.currentText()
        self.mark_stale()

    def shown_plane(self) -> Plane | None:
        """Give the plane that is seen at this moment."""
        raise TypeError(f"{type(self).__name__} does not tell its plane")

    def _fill_controls(self, subject: Subject | None) -> None:
        kind = self.plane_combo.currentData()
        names = [] if subject is None else subject.preparation.feature_names
        for combo in (self.x_feature, self.y_feature):
            self.show_control(combo, kind == FEATURES and len(names) > 1)
            fill_combo(combo, [(name, name) for name in names])
        run = self.session.run(self.session.selected)
        splits = 0 if run is None else len(run.record.splits)
        self.show_control(self.split_combo, splits > 1)
        fill_combo(self.split_combo, [(f"{k + 1} of {splits}", k) for k in range(splits)])
        if run is not None and splits:
            with QSignalBlocker(self.split_combo):
                self.split_combo.setCurrentIndex(split_of(run, self.session))

    def wanted_features(self, subject: Subject) -> tuple[int, int] | None:
        """Give the features that were chosen, if the subject has them."""
        names = subject.preparation.feature_names
        if self._wanted is None or not set(self._wanted) <= set(names):
            return None
        return names.index(self._wanted[0]), names.index(self._wanted[1])

    def show_features(self, plane: Plane) -> None:
        """Let the choices say which features a plane shows."""
        if plane.features is not None:
            for combo, feature in zip(
                (self.x_feature, self.y_feature), plane.features, strict=True
            ):
                with QSignalBlocker(combo):
                    combo.setCurrentIndex(feature)


def fill_combo(combo: QComboBox, items: list[tuple[str, object]]) -> None:
    """Give a combo these items; what was chosen stays chosen if it is among them."""
    if [(combo.itemText(k), combo.itemData(k)) for k in range(combo.count())] == items:
        return
    chosen = combo.currentData()
    with QSignalBlocker(combo):
        combo.clear()
        for words, value in items:
            combo.addItem(words, value)
        combo.setCurrentIndex(max(0, combo.findData(chosen)))
    combo.view().setMinimumWidth(combo.view().sizeHintForColumn(0) + 24)
