"""The weights of a linear scorer, largest first, with their spread over the splits."""

from __future__ import annotations

import functools
from typing import ClassVar

import numpy as np

from aucstudio.gui.common.statement import Statement
from aucstudio.gui.common.whiskers import WhiskerChart, Whiskers
from aucstudio.gui.pages.model.live_weights import MOST_ROWS, LiveWeights
from aucstudio.gui.pages.model.part import Columns, ModelPicture, ModelSubject
from aucstudio.gui.state.live import LiveRun
from aucstudio.gui.state.session import ShownRun
from aucstudio.project.data.preparing.preparation_choice import STANDARD
from aucstudio.project.explain.effects import Coefficients, coefficients
from aucstudio.project.explain.trees import plain_number


class WeightsPart(ModelPicture):
    """Dots are means over the splits, whiskers run from the least to the largest.

    Of a run in progress, the dots are the weights as they stand.
    """

    key: ClassVar = "coefficients"
    title: ClassVar = "Coefficients"
    tip: ClassVar = (
        "What each feature adds to a linear score. Features that go together share their weight: "
        "a small one need not mean that a feature is useless"
    )

    def __init__(self) -> None:
        super().__init__()
        self.chart = WhiskerChart(
            "model_weights_plot", "Weight for one standard deviation, or for a level"
        )
        self.plot = self.chart.plot
        self.box.addWidget(self.chart)
        self.live_weights = LiveWeights(self.chart)
        self.found: Coefficients | None = None
        self._first_split = 0

    def suits(self, run: ShownRun) -> bool:
        return all(split.coef is not None for split in run.record.splits)

    def show_subject(self, subject: ModelSubject) -> None:
        self.live_weights.leave()
        self.subject = subject
        self.found = found = coefficients(subject.run.record.splits)
        self._first_split = 0
        if found is None:
            return
        self.plot.setLabel("bottom", f"Weight for {found.step}, or for a level")
        low, high = np.nanmin(found.weights, axis=0), np.nanmax(found.weights, axis=0)
        if len(found.weights) == 1:
            low = high = np.full(len(found.names), np.nan)
        tip = functools.partial(_tip, found)
        self.chart.show_rows(Whiskers(found.names, found.mean, low, high, tip), subject.run.look)
        self.told.emit(_sentence(subject, found))

    def show_live(self, live: LiveRun) -> None:
        """Draw the weights of the run in progress, unless they are drawn already."""
        found = self.live_weights.follow(live)
        if found is not None:
            self.found, self._first_split = found, live.split
            self.told.emit(_live_sentence(live, found))

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
        return Statement(words, "All are still 0.")
    said = Statement(words, _strongest(found, "so far"))
    count = len(found.names)
    if count > MOST_ROWS:
        drawn = f"Of {count:,} weights the {MOST_ROWS} that were largest recently are drawn."
        return said.then(drawn)
    return said


def _strongest(found: Coefficients, where: str) -> str:
    """Describe what the largest weight does to the score."""
    mean = found.mean
    k = int(np.abs(mean).argmax())
    share = 100 * abs(mean[k]) / float(np.abs(mean).sum())
    side = "up" if mean[k] > 0 else "down"
    unit = "this level" if found.is_level[k] else f"{found.step} more"
    return (
        f"{found.names[k]} weighs most {where}: {unit} moves the score {side} by "
        f"{plain_number(abs(float(mean[k])), 3)}, {share:.0f} % of all weights together."
    )
