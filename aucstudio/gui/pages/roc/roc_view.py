"""ROC: the curves of the checked runs."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from numpy.typing import NDArray
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QGraphicsItem

from aucstudio.gui.common import curve_figures
from aucstudio.gui.common.plain_text import Markup, joined
from aucstudio.gui.common.plots.plot import Readout
from aucstudio.gui.common.plots.rate_axes import make_axes, rate_words
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.view import PageView
from aucstudio.gui.pages.roc import words as texts
from aucstudio.gui.pages.roc.canvas import Canvas, LiveLine
from aucstudio.gui.pages.roc.controls import Layers, RangeControl, RocControls
from aucstudio.gui.pages.roc.lines import FACES, Face, Lines
from aucstudio.gui.pages.roc.overlays import Scene
from aucstudio.gui.state.background import Answer, delayed
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices import text
from aucstudio.project.results.summary import tpr_summary

_HOW_TO_MOVE = "Drag it, click on the curve, or use the arrow keys"
_CRAMPED = "No room for the inset: enlarge the page."
_STILL_MILLISECONDS = 60


class RocView(PageView):
    """ROC curves of the checked runs and of the run in progress.

    Attributes
    ----------
    choices : RocControls
    canvas : Canvas
        The plot with the FPR range, the legend and the inset.
    lines : Lines
        The curves of finished runs.
    layers : Layers
        What can be drawn over the curves.
    readout : Readout
        Description of the point at the pointer, or of a drag.
    """

    listens_to: ClassVar = {
        **PageView.listens_to,
        "band": "_show_band",
        "band_rested": "_show_conclusion",
        "focus": "_show_layers",
        "stakes": "_show_layers",
        "plan": "_show_conclusion",
    }

    shows_threshold: ClassVar = True
    aim: ClassVar = "its ROC curve"

    def __init__(self, session: Session) -> None:
        super().__init__(session, "roc_view", "ROC")
        self.choices = RocControls(self.controls, lambda: self.range.turn())
        self.canvas = Canvas(session.plan.band)
        self.plot = self.canvas.plot
        self.pictures = (self.plot,)
        self.axes = self.choices.face_combo, self.choices.axis_combo
        self.lines = Lines(self.plot)
        self.flight = LiveLine(self.canvas.live_item)
        self._curves = Answer[None](self, lambda _done: self.mark_stale())
        self._comparing = Answer(self, self._on_compared)
        self._figures = joined("", ())  # of the compared runs
        self._compared: object = None  # the runs that the conclusion is about
        self._conclusion = self._comparison = Statement()
        self._cramped = False
        self.range = RangeControl(session, self.choices, self.canvas, self.lines)
        self.readout = Readout("roc_readout", "Curve at the pointer", self)
        self._pointer = QPointF()
        self._is_dragging = False
        self.layers = Layers(
            self.plot,
            session,
            self.choices,
            partial(self.update_part, self._show_layers),
        )
        self.body.setSpacing(16)
        self.body.addWidget(self.plot, stretch=1)
        self.body.addWidget(self.layers.side)
        self._connect()
        self.choices.remember()
        self.canvas.apply_theme()
        self._show_axes([])

    # ------------------------------------------------------------- making

    def _connect(self) -> None:
        self._stands_still = delayed(self, _STILL_MILLISECONDS, self._on_still)
        choices, canvas = self.choices, self.canvas
        for combo in (choices.face_combo, choices.axis_combo, choices.curve_combo):
            combo.currentIndexChanged.connect(self.mark_stale)
        show_band = partial(self.update_part, self._show_band)
        choices.areas.triggered.connect(lambda _action: show_band())
        choices.inset_action.toggled.connect(lambda _on: show_band())
        canvas.box.sigRangeChanged.connect(self._on_range)
        canvas.box.sigResized.connect(self._on_resized)
        self.plot.hovered.connect(self._on_hover)
        self.plot.restored.connect(lambda: self.range.zoom(False))
        canvas.band_item.sigRegionChanged.connect(self._read_band)
        canvas.band_item.released.connect(self._end_drag)
        self.layers.point.handle.dragged.connect(self._read_operating_point)
        self.layers.point.handle.released.connect(self._end_drag)

    def figure_data(self) -> Mapping[str, Sequence[object] | NDArray[Any]]:
        return texts.line_columns(self._face(), self.lines.drawn)

    def footnote(self) -> str:
        """State the other ranges for which runs were trained."""
        band, runs = self.session.plan.band, self.lines.runs()
        words = texts.trained_words(runs, band) if self._face().key == "roc" else []
        return "".join(words)

    # ------------------------------------------------------------- showing

    def refresh(self) -> None:
        runs = self.session.checked_runs()
        waiting = curve_figures.unready([run.record for run in runs])
        if waiting:
            key = tuple(record.id for record in waiting)
            target = self.session.focus.target

            def work(_post: object) -> None:
                curve_figures.make_ready(waiting)
                for record in waiting if target.rule == "fpr" else ():
                    tpr_summary(record, target.value)  # of the operating point

            if self._curves.ask(key, work):
                self._show_conclusion()
                return
        self.choices.fit(any(len(run.record.splits) > 1 for run in runs))
        self.canvas.apply_theme()
        self.layers.apply_theme()
        self._show_axes(runs)
        axes = self.canvas.along, self.canvas.up
        self.lines.draw(runs, self._face(), self.choices.every, axes, self.session.selected)
        self.clear_readout()
        self._show_live()
        self._show_band()

    def refresh_live(self) -> None:
        if self.flight.is_behind(self.session.live):
            self._show_live()
            self._fill_legend()
            self._show_conclusion()
            self.keep_still()
        elif not self.lines.drawn:
            self._show_conclusion()

    def moving(self) -> Container[QGraphicsItem]:
        return (self.canvas.live_item,)

    def _face(self) -> Face:
        return FACES[self.choices.face].quoted_at(self.session.plan.band)

    def let_controls_shrink(self) -> None:
        """Keep the width of the lists: a list without room is hidden."""

    def _show_axes(self, runs: list[ShownRun]) -> None:
        """Set the axes for the runs; show them from end to end if they have changed."""
        known = [c for run in runs for c in curve_figures.run_curves(run.record).curves]
        positives = max((curve.rows[0] for curve in known), default=500)
        negatives = max((curve.rows[1] for curve in known), default=500)
        face = self._face()
        axes = make_axes(self.choices.axis if face.key == "roc" else "linear", positives, negatives)
        share = texts.positives_share(runs[0].record) if runs else 0.5
        top = {"lift": 1 / share, "cost": 0.5}.get(face.key, 1.0)
        if self.canvas.show_axes(face, axes, top, share, self.session.plan.band):
            self.range.zoom(False)

    def _show_band(self) -> None:
        band = self.session.plan.band
        self._shade(band)
        self._fill_legend()
        self._show_inset(band)
        self._show_layers()
        self._show_conclusion()

    def _shade(self, band: tuple[float, float]) -> None:
        drawn = next(self.lines.of(self.session.selected), None)
        if drawn is None or self._face().key != "roc":
            self.canvas.shade(None, 0)
        else:
            average = curve_figures.run_curves(drawn.run.record).average
            self.canvas.shade(curve_figures.within_band(average, band), drawn.run.look.colour)
        self.canvas.thin(self.lines.window(), self.lines.pixels())

    def _show_inset(self, band: tuple[float, float]) -> None:
        shown = self.choices.inset_action.isChecked() and self._face().key == "roc"
        roomy = self.canvas.place_inset()
        self._cramped = shown and not roomy
        if not shown or not roomy or not self.lines.drawn:
            self.canvas.inset.hide()
            return
        along, up = self.canvas.along, self.canvas.up
        bottom, top = self.range.heights()
        x, y = self.range.places()
        words = [rate_words(along, band[0]), rate_words(along, band[1])]
        words += [rate_words(up, round(bottom, 3)), rate_words(up, round(top, 3))]
        ends = words[0], words[1], words[2], words[3]
        self.canvas.inset.show_lines((*x, *y), self.lines.drawn, ends)

    def _show_live(self) -> None:
        axes, seen = (self.canvas.along, self.canvas.up), (self.lines.window(), self.lines.pixels())
        self.flight.show(self.session.live, self._face(), axes, *seen)

    def _show_conclusion(self) -> None:
        runs = self.session.checked_runs()
        empty = "" if runs else self.why_empty()
        face = self._face()
        is_bare = bool(empty) and self.flight.curve is None
        live = self.flight.words(face, self.session.plan.band, self.choices.area)
        if empty:  # the next step is written into an empty picture, else below it
            self._conclusion = Statement("" if is_bare else live or empty)
        elif self._curves.busy:
            self._conclusion = Statement("Drawing the curves…")
        elif face.key == "roc":
            self._compare(runs)
            self._conclusion = self._comparison
        else:
            self._conclusion = texts.face_sentence(face, runs)
        if runs:
            self._conclusion = self._conclusion.then(live)
        self._show_sentence()
        self.range.show()
        self.canvas.hint.setText(live or empty)
        self.canvas.plot.setAccessibleDescription(live or empty)
        self.canvas.hint.setVisible(is_bare)

    def _compare(self, runs: list[ShownRun]) -> None:
        """Compare the runs; the last comparison of the same runs stays until the new one."""
        about, band = tuple((run.record, run.look.name) for run in runs), self.session.plan.band
        if about != self._compared:
            self._compared, self._comparison = about, Statement("Comparing the runs…")
            self._figures = joined("", ())
        if not self.session.is_band_moving and (about, band) != self._comparing.key:
            self._comparing.ask((about, band), lambda _post: texts.compare(runs, band))

    def _on_compared(self, found: tuple[Statement, Markup]) -> None:
        self._comparison, self._figures = found
        self._fill_legend()
        self._show_conclusion()

    def _fill_legend(self) -> None:
        """Name the finished runs and the run in progress."""
        runs, live, legend = self.lines.runs(), self.flight.live, self.canvas.legend
        face, band = self._face(), self.session.plan.band
        in_roc = face.key == "roc"  # whose intervals take long
        legend.tip = lambda: self._figures if in_roc else texts.figure_table(face, runs, band)
        names = [(run.look.name, run.look) for run in runs]
        if live is not None:
            waits = self.flight.curve is None
            words = text("live_in_legend", name=live.look.name, doing=live.words if waits else None)
            names.append((words, live.look))
        legend.explain(names)

    # ------------------------------------------------------------- layers

    def scene(self) -> Scene:
        """Return the current content of the picture, for the layers."""
        runs, session = self.lines.runs(), self.session
        by_id = {run.record.id: run for run in runs}
        return Scene(
            tuple(runs),
            by_id.get(session.selected or ""),
            by_id.get(session.compared or ""),
            session.focus,
            session.plan.band,
            self.canvas.along,
            self.canvas.up,
            self.lines.window(),
            self._face().key,
        )

    def _show_layers(self) -> None:
        self.layers.show(self.scene())
        self._show_sentence()

    def _show_sentence(self) -> None:
        cramped = _CRAMPED if self._cramped else ""
        shown = self._conclusion.then(self.layers.words, cramped)
        # What was switched on and cannot be drawn comes first, or the click seems to do nothing.
        self.sentence.setText(
            Statement.of(self.layers.difference.missing, shown.headline, shown.more)
        )

    def _on_range(self) -> None:
        self.lines.thin()
        self.canvas.thin(self.lines.window(), self.lines.pixels())
        self._show_live()
        # Layers are drawn again when the range has stopped changing.
        self._stands_still.start()

    def _on_resized(self) -> None:
        self._on_range()
        self._on_still()

    def _on_still(self) -> None:
        self._show_inset(self.session.plan.band)
        self.update_part(self._show_layers)

    # ------------------------------------------------------------- pointing

    def _on_hover(self, place: QPointF | None) -> None:
        if place is None:
            self.clear_readout()
        else:
            self.point_at(place.x(), place.y())

    def point_at(self, x: float, y: float) -> None:
        """Describe the point of a curve nearest to a position, unless something is dragged."""
        self._pointer = QPointF(x, y)
        if self._is_dragging:
            return
        point = self.layers.point
        if point.point is not None and point.is_under(x, y):
            self.canvas.mark(None)
            self._read(f"{texts.operating_words(point.point)}\n{_HOW_TO_MOVE}")
            return
        found = self.lines.nearest(x, y)
        if found is None:
            return
        drawn, vertex = found
        across, up = drawn.points
        self.canvas.mark((float(across[vertex]), float(up[vertex])), drawn.run.look.colour)
        self._read(texts.point_words(self._face(), drawn, vertex))

    def _read(self, words: str) -> None:
        self.readout.show_at(self.plot, self._pointer, words)

    def _read_band(self) -> None:
        """Describe the dragged FPR range, and the partial area of the selected run in it."""
        self._is_dragging = True
        drawn = next(self.lines.of(self.session.selected), None)
        run = None if drawn is None else drawn.run
        self.canvas.mark(None)
        self._read(texts.range_words(run, self.session.plan.band, self.choices.area))

    def _read_operating_point(self) -> None:
        """Describe the dragged operating point."""
        self._is_dragging = True
        self.canvas.mark(None)
        if self.layers.point.point is not None:
            self._read(texts.operating_words(self.layers.point.point))

    def _end_drag(self) -> None:
        self._is_dragging = False
        self.clear_readout()

    def clear_readout(self) -> None:
        """Hide the description."""
        self.canvas.mark(None)
        self.readout.show_nothing()
