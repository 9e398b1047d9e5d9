"""Permutation importance on held-out rows."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from aucstudio.gui.common.form import whole_box
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.whiskers import WhiskerChart, Whiskers
from aucstudio.gui.pages.model.model_picture import Columns, LongPicture, ModelSubject, Post
from aucstudio.gui.state.background import Work
from aucstudio.notices.words import figure_words, interval_words
from aucstudio.project.explain.importance import (
    MEASURES,
    REPEATS,
    Importance,
    permutation_importance,
)
from aucstudio.project.runs.experiments.planning import read_test_table

_WORDS = {"auc": "AUC", "pauc": "partial AUC"}


class ImportancePart(LongPicture[Importance]):
    """Permutation importance; a stop keeps the finished permutations."""

    key: ClassVar = "importance"
    title: ClassVar = "Importance"
    tip: ClassVar = "How much ranking quality the run loses when a column is shuffled"
    table_shows: ClassVar = "permute its held-out rows"
    keep: ClassVar = 8
    pause: ClassVar = 250  # a range that is dragged changes the request at every step
    unstarted: ClassVar = "Stopped before each column was shuffled once."

    def __init__(self) -> None:
        super().__init__(WhiskerChart("model_importance_plot", "Loss of AUC"))
        self._make_controls()

    def _make_controls(self) -> None:
        measures = [(_WORDS[key], key) for key in MEASURES]
        tip = "The area whose loss is shown"
        self.measure_combo = self.row.choice(
            "model_measure_combo", "", tip, measures, self.redraw, says="Measure"
        )
        # The words are in the fields: labels would not fit into a narrow centre.
        self.repeats_box = self.row.put(
            whole_box(
                "model_repeats_box", "Permutations", 1, 200, value=REPEATS, unit=" permutations"
            ),
            tip="How often each column is shuffled in each split",
        )
        self.repeats_box.setKeyboardTracking(False)
        self.repeats_box.valueChanged.connect(lambda _value: self.ask())
        self.make_progress(
            "model",
            ("Stop permuting", "Keep the permutations that are finished"),
            ("Finish the permutations", "Run the remaining permutations"),
        )

    # ------------------------------------------------------------- computing

    def request_key(self, subject: ModelSubject) -> tuple[object, ...]:
        return *subject.key, subject.band, self.repeats_box.value()

    def why_none(self, subject: ModelSubject) -> str:
        needs_table = subject.record.experiment.validation.scheme != "file"
        return super().why_none(subject) if needs_table else ""

    def work(self, subject: ModelSubject) -> tuple[Work[Importance], str]:
        record, table, band = subject.record, subject.table, subject.band
        repeats = self.repeats_box.value()

        def work(post: Post) -> Importance:
            rows = read_test_table(record.experiment) or table
            assert rows is not None
            rows = record.experiment.data.with_scores(rows)
            return permutation_importance(record, rows, band, repeats=repeats, listen=post)

        return work, f"Shuffling each column of the held-out rows of {subject.name}…"

    # ------------------------------------------------------------- drawing

    def is_complete(self, found: Importance) -> bool:
        return found.complete

    def draw(self, subject: ModelSubject, found: Importance) -> None:
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
        self.message.emit(_sentence(subject, found, measure, rows))

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
        sentences = [f"No column matters to {subject.name}: shuffling any of them costs no {what}."]
    else:
        sentences = [
            f"{first.name} matters most to {subject.name}: shuffling it costs "
            f"{figure_words(first.value)} {what} (95 % {interval_words(first.low, first.high)})."
        ]
    idle = int((~(rows.low > 0)).sum())
    if 0 < idle < len(rows) and not np.isnan(first.low):
        sentences.append(
            f"The loss of {idle} of {len(rows)} columns is not significantly different from 0."
        )
    shuffles = f"{found.repeats} permutation{'s' if found.repeats > 1 else ''}"
    if len(found.areas) == 1:
        sentences.append(f"Over {shuffles} of one split: repeats show how it varies with the rows.")
    else:
        sentences.append(f"Means over {found.splits} splits, {shuffles} each.")
    if len(rows) < found.of_columns:
        sentences.append(
            f"Of {found.of_columns:,} columns the {len(rows):,} that move the scores most were "
            "shuffled one by one."
        )
    if found.rows < found.of_rows:
        sentences.append(
            f"{found.rows:,} of {found.of_rows:,} held-out rows of each split were scored."
        )
    return Statement.of(*sentences, "" if found.complete else "Stopped before the end.")
