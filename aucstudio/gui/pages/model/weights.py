"""Weights of a linear scorer, largest first, with their spread over splits."""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import LinearScorer
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.whiskers import Whisker, WhiskerChart, Whiskers
from aucstudio.gui.pages.model.model_picture import Columns, ModelPicture, ModelSubject
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.preparation_choice import STANDARD
from aucstudio.project.explain.effects import Coefficients, coefficients, gather_weights
from aucstudio.project.explain.trees import plain_number
from aucstudio.project.runs.progress import Look

MOST_ROWS = 60
# Rows that change places at every step cannot be read.
_SORTED_AGAIN = 2.0  # rows are sorted again when the fit has taken so many times as long


def is_linear(live: LiveRun) -> bool:
    """Return whether the run in progress has weights now."""
    look = live.picture
    return look is not None and live.preparation is not None and look.scorer.kind == "linear"


class WeightsPart(ModelPicture[Coefficients]):
    """Dots are means over the splits, or current weights of a run in progress; whiskers, ranges."""

    key: ClassVar = "coefficients"
    title: ClassVar = "Coefficients"
    tip: ClassVar = (
        "Contribution of each feature to a linear score. Correlated features share their "
        "weight, so a small weight does not mean that a feature is useless"
    )

    def __init__(self) -> None:
        self.chart = WhiskerChart(
            "model_weights_plot", "Weight for one standard deviation, or for a level"
        )
        super().__init__(self.chart)
        self._first_split = 0
        self._look: Look | None = None
        self._order: NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self._sorts_at = 0.0
        self._prepared: Preparation | None = None

    def suits(self, run: ShownRun) -> bool:
        return all(split.coef is not None for split in run.record.splits)

    def ask(self) -> None:
        self.end_live()
        found = None if self.subject is None else coefficients(self.subject.record.splits)
        self._first_split = 0
        if found is not None:
            self._on_found(found)

    def draw(self, subject: ModelSubject, found: Coefficients) -> None:
        self.plot.setLabel("bottom", f"Weight for {found.step}, or for a level")
        low, high = np.nanmin(found.weights, axis=0), np.nanmax(found.weights, axis=0)
        if len(found.weights) == 1:
            low = high = np.full(len(found.names), np.nan)
        tip = functools.partial(_tip, found)
        self.chart.show_rows(Whiskers(found.names, found.mean, low, high, tip), subject.run.look)
        self.message.emit(_sentence(subject, found))

    def end_live(self) -> None:
        """Forget the run in progress."""
        self._look = self._prepared = None

    def show_live(self, live: LiveRun) -> None:
        """Draw the weights of the run in progress, unless they are drawn already."""
        look, prepared = live.picture, live.preparation
        if look is None or prepared is None or look is self._look:
            return
        assert isinstance(look.scorer, LinearScorer)
        weights = look.scorer.weights
        if not np.isfinite(weights).all():
            return
        self._look, self._first_split = look, live.split
        if prepared is not self._prepared or look.seconds >= self._sorts_at or not self.found:
            self._prepared, self._sorts_at = prepared, _SORTED_AGAIN * look.seconds
            self._order = np.argsort(-np.abs(weights), kind="stable")
            self.found = gather_weights([(prepared, weights)])
            rows = zip(self.found.names[:MOST_ROWS], weights[self._order].tolist(), strict=False)
            self.chart.show_rows([Whisker(n, x, np.nan, np.nan, n) for n, x in rows], live.look)
        else:
            now = weights[self._order]
            self.found = dataclasses.replace(self.found, weights=now[None])
            self.chart.move_dots(now[:MOST_ROWS])
        self.message.emit(_live_sentence(live, self.found))

    def data(self) -> Columns:
        found = self.found
        if found is None:
            return {}
        splits, features = found.weights.shape
        return {
            "feature": list(found.names) * splits,
            "split": np.repeat(np.arange(1, splits + 1) + self._first_split, features),
            "weight_per_sd": found.weights.ravel(),
            "weight_per_unit": (found.weights / found.scales).ravel(),
        }


def _tip(found: Coefficients, k: int) -> str:
    mean, scale = float(found.mean[k]), float(found.scales[k])
    lines = [found.names[k], f"{plain_number(mean)} on average"]
    if not found.is_level[k] and not found.choice.makes_ranks:
        of = "standard deviation" if found.choice.scale == STANDARD else "scaled by"
        lines.append(
            f"{plain_number(mean / scale)} for one unit of the column ({of} {plain_number(scale)})"
        )
    if len(found.weights) > 1:
        low, high = np.nanmin(found.weights[:, k]), np.nanmax(found.weights[:, k])
        lines.append(f"{plain_number(float(low))} … {plain_number(float(high))} over the splits")
        lines.append(f"the same sign in {100 * found.same_sign[k]:.0f} % of them")
    return "\n".join(lines)


def _sentence(subject: ModelSubject, found: Coefficients) -> Statement:
    total, k = float(np.abs(found.mean).sum()), len(found.weights)
    if total == 0:
        return Statement(f"All weights of {subject.name} are 0: every row gets the same score.")
    words = _strongest(found, f"in {subject.name}")
    if k == 1:
        return Statement(words, "One split: repeats show how much the weights vary.")
    turning = int((found.same_sign < 1).sum())
    changes = "changes" if turning in (0, 1) else "change"
    return Statement(
        words,
        f"Of {len(found.names)} weights {turning or 'none'} {changes} sign between the {k} splits.",
    )


def _live_sentence(live: LiveRun, found: Coefficients) -> Statement:
    verb = "is stopping" if live.stopping else "is training"
    split = f", split {live.split + 1} of {live.splits}" if live.splits > 1 else ""
    words = f"{live.look.name} {verb}{split}: current weights."
    if not found.mean.any():
        return Statement(words, "All weights are still 0.")
    text = Statement(words, _strongest(found, "so far"))
    count = len(found.names)
    if count > MOST_ROWS:
        drawn = f"Of {count:,} weights the {MOST_ROWS} that were largest recently are drawn."
        return text.then(drawn)
    return text


def _strongest(found: Coefficients, where: str) -> str:
    """Describe what the largest weight does to the score."""
    mean = found.mean
    k = int(np.abs(mean).argmax())
    share = 100 * abs(mean[k]) / float(np.abs(mean).sum())
    side = "up" if mean[k] > 0 else "down"
    unit = "this level" if found.is_level[k] else f"{found.step} more"
    return (
        f"{found.names[k]} has the largest weight {where}: {unit} moves the score {side} by "
        f"{plain_number(abs(float(mean[k])), 3)}, {share:.0f} % of all weights together."
    )
