"""Controls of a plane: projection, features, split."""

from __future__ import annotations

import functools
from typing import ClassVar

from aucstudio.gui.common.controls import fill_names
from aucstudio.gui.common.view import PageView
from aucstudio.gui.common.widgets import quietly
from aucstudio.gui.pages.planes.subject import PlanePicture, Subject
from aucstudio.gui.state.session import Session
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.geometry.planes import COMPONENTS, FEATURES, SCORE, Plane


class PlaneControls(PageView):
    """A page with a choice of plane, features, split and rows.

    A subclass declares the prefix of the names of its controls.
    """

    planes: ClassVar = {
        SCORE: "Score × widest direction",
        FEATURES: "Two features",
        COMPONENTS: "Principal components",
    }
    prefix: ClassVar[str]
    rows_choice: ClassVar[tuple[str, str, str]]  # name, label and tip of the choice of rows

    def __init__(self, session: Session, name: str, title: str) -> None:
        super().__init__(session, name, title)
        self._wanted: tuple[str, str] | None = None
        self._chosen_for: str | None = None
        self.picture: PlanePicture | None = None
        self._make_plane_controls()

    def _make_plane_controls(self) -> None:
        row = self.controls
        self.plane_combo = row.choice(
            f"{self.prefix}plane_combo",
            "&Plane",
            "Projection of the rows",
            [(words, kind) for kind, words in self.planes.items()],
            self._on_plane,
        )
        self.x_feature, self.y_feature = (
            row.choice(
                f"{self.prefix}{axis}_feature",
                words,
                f"The feature that runs {where}",
                verb=functools.partial(self._on_feature, k),
                elided=True,
            )
            for k, (axis, words, where) in enumerate(
                (("x", "Right", "right"), ("y", "Up", "upwards"))
            )
        )
        self.split_combo = row.splits(
            f"{self.prefix}split",
            "Which fit of the run: each has its own training rows",
            self._on_split,
        )
        held_out = (("Held-out", True), ("Training", False))
        self.rows_combo = row.choice(*self.rows_choice, held_out, self.mark_stale)

    def _on_plane(self) -> None:
        # The choice holds for this table only.
        self._chosen_for = self._table_key()
        self.mark_stale()

    def _table_key(self) -> str:
        return "" if self.session.table is None else self.session.table.sha256

    def is_exact(self, subject: Subject) -> bool:
        """Return whether the plane of two features is exact."""
        return is_whole_plane(subject.preparation)

    def _turn_to_default(self, subject: Subject) -> None:
        """Show the features themselves if there are exactly two, unless a plane was chosen."""
        if self._chosen_for != self._table_key():
            kind = FEATURES if self.is_exact(subject) else next(iter(self.planes))
            quietly(self.plane_combo.setCurrentIndex, self.plane_combo.findData(kind))

    def _on_split(self) -> None:
        self.session.point_at(split=self.split_combo.currentIndex())
        self.mark_stale()

    def _on_feature(self, axis: int) -> None:
        x, y = self.x_feature.currentText(), self.y_feature.currentText()
        shown = None if self.picture is None else self.picture.plane.features
        if x == y and shown is not None:
            # The same feature twice is not a plane: the two are exchanged.
            other = self.y_feature if axis == 0 else self.x_feature
            quietly(other.setCurrentIndex, shown[axis])
        self._wanted = self.x_feature.currentText(), self.y_feature.currentText()
        self.mark_stale()

    def _fill_controls(self, subject: Subject | None) -> None:
        if subject is not None:
            self._turn_to_default(subject)
        kind = self.plane_combo.currentData()
        names = [] if subject is None else subject.preparation.feature_names
        for combo in (self.x_feature, self.y_feature):
            self.controls.show(kind == FEATURES and len(names) > 1, combo)
            fill_names(combo, names)
        if len(names) > 1 and self.x_feature.currentIndex() == self.y_feature.currentIndex():
            quietly(self.y_feature.setCurrentIndex, int(not self.x_feature.currentIndex()))
        run = self.session.run(self.session.selected)
        splits = 0 if run is None else len(run.record.splits)
        self.controls.show(splits > 1, self.split_combo)
        self.split_combo.offer(splits, self.session.focus.split)

    def wanted_features(self, subject: Subject) -> tuple[int, int] | None:
        """Return the chosen features if the subject has them, or its only two."""
        names = subject.preparation.feature_names
        if self._wanted is None or not set(self._wanted) <= set(names):
            return (0, 1) if is_whole_plane(subject.preparation) else None
        return names.index(self._wanted[0]), names.index(self._wanted[1])

    def show_features(self, plane: Plane) -> None:
        """Update the choices to the features a plane shows."""
        if plane.features is not None:
            for combo, feature in zip(
                (self.x_feature, self.y_feature), plane.features, strict=True
            ):
                quietly(combo.setCurrentIndex, feature)


def is_whole_plane(preparation: Preparation) -> bool:
    """Return whether the features are exactly two numbers."""
    return len(preparation.numbers) == 2 == len(preparation.feature_names)
