"""Permutation importance on held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from aucstudio.gui.common.form import whole_box
from aucstudio.gui.common.statement import Statement
from aucstudio.gui.common.whiskers import WhiskerChart, Whiskers
from aucstudio.gui.pages.model.background_picture import Question, WorkedOut
from aucstudio.gui.pages.model.model_picture import Columns, ModelSubject
from aucstudio.gui.state.session import ShownRun
from aucstudio.gui.state.timers import delayed
from aucstudio.project.explain.importance import (
    MEASURES,
    REPEATS,
    Importance,
    permutation_importance,
)
from aucstudio.project.runs.experiments.planning import read_test_table
from aucstudio.project.words import figure_words, interval_words

_WORDS = {"auc": "AUC", "pauc": "partial AUC"}
_PAUSE = 250  # ms; a band that is dragged is waited for


class ImportancePart(WorkedOut[Importance]):
    """Works in the background with progress; a stop keeps the permutations that are finished."""

    key: ClassVar = "importance"
    title: ClassVar = "Importance"
    tip: ClassVar = "How much ranking quality the run loses when a column is shuffled"
    remembered: ClassVar = 8
    unstarted: ClassVar = "Stopped before each column was shuffled once."

    def __init__(self) -> None:
        super().__init__(WhiskerChart("model_importance_plot", "Loss of AUC"))
        self._soon = delayed(self, _PAUSE, self._start)
        self._make_controls()

    def _make_controls(self) -> None:
        measures = [(_WORDS[key], key) for key in MEASURES]
        tip = "The area whose loss is shown"
        self.measure_combo = self.row.choice(
            "model_measure_combo", "", tip, measures, self.draw, says="Measure"
        )
        # The words are in the fields: labels would not fit into a narrow centre.
        self.repeats_box = self.row.put(
            whole_box(
                "model_repeats_box", "Permutations", 1, 200, value=REPEATS, unit=" permutations"
            ),
            tip="How often each column is shuffled in each split",
        )
        self.repeats_box.setKeyboardTracking(False)
        self.repeats_box.valueChanged.connect(lambda _value: self._ask())
        self.make_working_controls(
            "model",
            ("Stop permuting", "Keep the permutations that are finished"),
            ("Finish the permutations", "Run the remaining permutations"),
        )
        self.show_state()

    def suits(self, run: ShownRun) -> bool:
        return True

    def busy(self) -> bool:
        return super().busy() or self._soon.isActive()

    def leave(self) -> None:
        self._soon.stop()
        super().leave()

    # ------------------------------------------------------------- computing

    def show_subject(self, subject: ModelSubject) -> None:
        old, self.subject = self.subject, subject
        self._ask(same_run=old is not None and old.run.record is subject.run.record)

    def question(self, subject: ModelSubject) -> Question:
        record = subject.run.record
        return record.id, record.created, subject.band, self.repeats_box.value()

    def _ask(self, *, same_run: bool = True) -> None:
        subject = self.subject
        if subject is None:
            return
        asked = self.question(subject)
        if self._answer.recall(asked):
            self._soon.stop()
        elif asked == self._answer.key:
            self.draw()
        elif subject.table is None and subject.run.record.experiment.validation.scheme != "file":
            self._answer.drop()
            self.show_none("Open the table of this run to permute its held-out rows.")
        elif same_run:
            # What was found for another setting is not shown under this one.
            self._answer.drop()
            self.show_none("Updating…")
            self._soon.start()
        else:
            self._start()

    def _start(self) -> None:
        if self.subject is not None:
            self.begin(self.subject)

    def begin(self, subject: ModelSubject) -> None:
        self._soon.stop()
        record, table = subject.run.record, subject.table
        band, repeats = subject.band, self.repeats_box.value()

        def work(post: Callable[[float], bool]) -> Importance:
            rows = read_test_table(record.experiment) or table
            assert rows is not None
            rows = record.experiment.data.with_scores(rows)
            return permutation_importance(record, rows, band, repeats=repeats, listen=post)

        sentence = f"Shuffling each column of the held-out rows of {subject.name}…"
        self.work_out(subject, work, sentence)

    # ------------------------------------------------------------- drawing

    def is_complete(self) -> bool:
        return self.found is None or self.found.complete

    def draw(self) -> None:
        self.show_state()
        found, subject = self.found, self.subject
        if found is None or subject is None:
            return
        measure = str(self.measure_combo.currentData())
        value, low, high = found.summary(measure)
        alpha, beta = subject.band
        of_band = f", FPR {alpha:g} … {beta:g}" if measure == "pauc" else ""
        self.plot.setLabel("bottom", f"Loss of {_WORDS[measure]}{of_band}")
        order = np.argsort(-value, kind="stable")
        names = [found.columns[c] for c in order]
        value, low, high = value[order], low[order], high[order]

        def tip(k: int) -> str:
            return (
                f"{names[k]}\nloss of {_WORDS[measure]}: {figure_words(float(value[k]))}\n"
                f"95 %: {interval_words(float(low[k]), float(high[k]))}"
            )

        rows = Whiskers(names, value, low, high, tip)
        self.chart.show_rows(rows, subject.run.look)
        self.told.emit(_sentence(subject, found, measure, rows))

    def data(self) -> Columns:
        found = self.found
        if found is None:
            return {}
        splits, repeats, columns, _ = found.drops.shape
        return {
            "column": list(found.columns) * (splits * repeats),
            "split": np.repeat(np.arange(1, splits + 1), repeats * columns),
            "permutation": np.tile(np.repeat(np.arange(1, repeats + 1), columns), splits),
            "auc_loss": found.drops[..., 0].ravel(),
            "pauc_loss": found.drops[..., 1].ravel(),
        }


def _sentence(subject: ModelSubject, found: Importance, measure: str, rows: Whiskers) -> Statement:
    first = rows[0]
    what = _WORDS[measure]
    if first.value <= 0:
        said = [f"No column matters to {subject.name}: shuffling any of them costs no {what}."]
    else:
        said = [
            f"{first.name} matters most to {subject.name}: shuffling it costs "
            f"{figure_words(first.value)} {what} (95 % {interval_words(first.low, first.high)})."
        ]
    idle = int((~(rows.low > 0)).sum())
    if 0 < idle < len(rows) and not np.isnan(first.low):
        said.append(
            f"The loss of {idle} of {len(rows)} columns is not significantly different from 0."
        )
    shuffles = f"{found.repeats} permutation{'s' if found.repeats > 1 else ''}"
    if len(found.areas) == 1:
        said.append(f"Over {shuffles} of one split: repeats show how it varies with the rows.")
    else:
        said.append(f"Means over {found.splits} splits, {shuffles} each.")
    if len(rows) < found.of_columns:
        said.append(
            f"Of {found.of_columns:,} columns the {len(rows):,} that move the scores most were "
            "shuffled one by one."
        )
    if found.rows < found.of_rows:
        said.append(f"{found.rows:,} of {found.of_rows:,} held-out rows of each split were scored.")
    return Statement.of(*said, "" if found.complete else "Stopped before the end.")
