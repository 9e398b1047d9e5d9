"""Charts of the columns or the members of a model, one row each, with their spread over splits."""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

import numpy as np

from aucstudio.engine.arrays import Index
from aucstudio.engine.ensembles.combined import CombinationScorer, MemberShare
from aucstudio.engine.scorers import EnsembleScorer, LinearScorer
from aucstudio.gui.common.form import whole_box
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.whiskers import Whisker, WhiskerChart, Whiskers
from aucstudio.gui.common.widgets import quietly
from aucstudio.gui.pages.model.model_picture import (
    ChartPicture,
    Columns,
    LongPicture,
    ModelSubject,
    Post,
)
from aucstudio.gui.state.background import Work
from aucstudio.gui.state.runner import LiveRun
from aucstudio.gui.state.session import ShownRun
from aucstudio.notices import text
from aucstudio.project.data.preparing.preparation import Preparation
from aucstudio.project.data.preparing.preparation_choice import STANDARD
from aucstudio.project.explain.effects import Coefficients, coefficients, gather_weights
from aucstudio.project.explain.importance import (
    REPEATS,
    Importance,
    permutation_importance,
)
from aucstudio.project.explain.trees import FeatureUse, feature_use, plain_number, side_by_side
from aucstudio.project.geometry.planes import thinned
from aucstudio.project.runs.planning import read_test_table
from aucstudio.project.runs.progress import Look

_ROWS = 2_000
_KEPT = 32  # runs and settings whose importances are kept, finished or not
_AREAS = {"auc": "AUC", "pauc": "pAUC"}
MOST_ROWS = 60
# Rows that change places at every step cannot be read.
_SORTED_AGAIN = 2.0  # rows are sorted again when the fit has taken so many times as long


class ImportancePart(LongPicture[Importance]):
    """Permutation importance on held-out rows, column by column; every permutation is kept."""

    key: ClassVar = "importance"
    title: ClassVar = "Importance"
    tip: ClassVar = "model_importance_tip"
    table: ClassVar = "model_importance_table"
    busy: ClassVar = "model_importance_busy"
    unstarted: ClassVar = "model_importance_unstarted"
    pause: ClassVar = 250  # a range that is dragged changes the request at every step

    def __init__(self) -> None:
        super().__init__(WhiskerChart("model_importance_plot", "Loss of AUC"))
        self._latest: dict[object, Importance] = {}
        self._chose_measure = False
        self.measure_combo = self.row.choice("model_measure_combo", verb=self._on_measure)
        # The unit is in the field: a label would not fit into a narrow centre.
        self.repeats_box = self.row.put(
            whole_box("model_repeats_box", 1, 200, value=REPEATS, unit=" permutations")
        )
        self.repeats_box.setKeyboardTracking(False)
        self.repeats_box.valueChanged.connect(lambda _value: self.ask())
        self.make_progress("model")

    def show_subject(self, subject: ModelSubject) -> None:
        if not self._chose_measure:
            measure = "auc" if subject.band == (0.0, 1.0) else "pauc"
            quietly(self.measure_combo.setCurrentIndex, self.measure_combo.findData(measure))
        super().show_subject(subject)

    def _on_measure(self) -> None:
        self._chose_measure = True
        self.redraw()

    def request_key(self, subject: ModelSubject) -> tuple[object, ...]:
        return *subject.key, subject.band, self.repeats_box.value()

    def why_none(self, subject: ModelSubject) -> str:
        has_file = subject.record.experiment.validation.scheme == "file"
        return "" if has_file else super().why_none(subject)

    def known(self, subject: ModelSubject) -> Importance | None:
        latest = self._latest.get(self.request_key(subject))
        return latest if latest is not None and latest.complete else None

    def work(self, subject: ModelSubject) -> Work[Importance]:
        record, repeats = subject.record, self.repeats_box.value()
        known = self._latest.get(self.request_key(subject))

        def work(post: Post) -> Importance:
            if known is not None:
                post(known)
            rows = read_test_table(record.experiment)
            rows = subject.data if rows is None else record.experiment.data.with_scores(rows)
            return permutation_importance(
                record, rows, subject.band, repeats=repeats, listen=post, report=post, known=known
            )

        return work

    def _on_found(self, found: Importance) -> None:
        if self.subject is not None:
            key = self.request_key(self.subject)
            others = [one for one in self._latest if one != key][1 - _KEPT :]
            self._latest = {**{one: self._latest[one] for one in others}, key: found}
        super()._on_found(found)

    def is_complete(self, found: Importance) -> bool:
        return found.complete

    def draw(self, subject: ModelSubject, found: Importance) -> None:
        measure = str(self.measure_combo.currentData())
        area, band = _AREAS[measure], subject.band if measure == "pauc" else None
        value, low, high = found.summary(measure)
        over = _interval_over(subject)
        self.plot.setLabel("bottom", text("model_importance_axis", area=area, band=band, over=over))

        def tip(k: int) -> str:
            shown = {"loss": value[k], "interval": (low[k], high[k])}
            return text("model_importance_row", name=found.columns[k], area=area, **shown)

        rows = Whiskers(found.columns, value, low, high, tip).ranked()
        self.chart.show_rows(rows, subject.run.look)
        self.message.emit(_importance_sentence(subject, found, area, rows, going=self._answer.busy))

    def columns(self, found: Importance) -> Columns:
        splits, repeats, columns, _ = found.drops.shape
        return {
            "column": list(found.columns) * (splits * repeats),
            "split": np.repeat(np.arange(1, splits + 1), repeats * columns),
            "permutation": np.tile(np.repeat(np.arange(1, repeats + 1), columns), splits),
            "auc_loss": found.drops[..., 0].ravel(),
            "pauc_loss": found.drops[..., 1].ravel(),
        }


def _interval_over(subject: ModelSubject) -> str:
    """Return what the intervals of losses cover."""
    if len(subject.record.splits) > 1:
        return "splits"
    return "groups of rows" if subject.record.splits[0].test_groups is not None else "rows"


def _importance_sentence(
    subject: ModelSubject, found: Importance, area: str, rows: Whiskers, *, going: bool
) -> Statement:
    first, count = rows[0], len(rows)
    idle = int((~(rows.low > 0)).sum())
    is_known = 0 < idle < count and not np.isnan(first.low)
    # Without an interval there is no test.
    state = "none" if not first.value > 0 else "unsure" if first.low <= 0 else "first"
    head = text(
        f"model_importance_{state}",
        first=first,
        name=subject.name,
        area=area,
        interval=None if np.isnan(first.low) else (first.low, first.high),
        going=going,
    )
    if going:
        head = text("model_importance_few") if state == "none" else head
        return Statement(head, text("model_importance_going"))
    several = "model_importance_splits" if len(found.areas) > 1 else "model_importance_one_split"
    columns, all_rows = len(found.columns), found.rows == found.of_rows
    return Statement.of(
        head,
        text("model_importance_idle", idle=idle, count=count) if is_known else "",
        text(several, found=found, over=_interval_over(subject)) if found.repeats else "",
        text("model_importance_movers", found=found, count=columns)
        if columns < found.of_columns
        else "",
        "" if all_rows else text("model_importance_rows", found=found),
        "" if found.complete else text("model_stopped"),
    )


class FeatureUsePart(ChartPicture[list[FeatureUse]]):
    """Dots are mean shares of the trees' variance over the splits; lines, single splits."""

    key: ClassVar = "use"
    title: ClassVar = "Feature use"
    tip: ClassVar = "model_use_tip"
    table: ClassVar = "model_use_table"
    busy: ClassVar = "model_use_busy"

    def __init__(self) -> None:
        super().__init__(WhiskerChart("model_use_plot", "% of the variance of the trees' outputs"))

    def suits(self, run: ShownRun) -> bool:
        scorers = [split.model.scorer for split in run.record.splits]
        return all(isinstance(one, EnsembleScorer) and len(one.roots) > 1 for one in scorers)

    def work(self, subject: ModelSubject) -> Work[list[FeatureUse]]:
        def work(post: Post) -> list[FeatureUse]:
            found, table = [], subject.data
            for split in subject.record.splits:
                scorer, preparation = split.model.scorer, split.model.preparation
                assert isinstance(scorer, EnsembleScorer)
                rows = split.train_rows[thinned(split.train_positive, _ROWS)]
                found.append(feature_use(scorer, preparation, preparation.apply(table, rows)))
                if post(None):
                    break
            return side_by_side(found)

        return work

    def draw(self, subject: ModelSubject, found: list[FeatureUse]) -> None:
        gain = 100 * np.array([use.gain for use in found])
        counts = np.array([use.splits for use in found]).mean(axis=0)
        columns, mean = found[0].columns, gain.mean(axis=0)

        def tip(k: int) -> str:
            return text("model_use_row", name=columns[k], share=mean[k], splits=counts[k])

        rows = Whiskers.over_splits(columns, gain, tip).ranked()
        self.chart.show_rows(rows, subject.run.look)
        head = text(
            "model_use_first",
            first=rows[0].name,
            name=subject.name,
            share=rows[0].value,
            splits=counts[mean.argmax()],
            of=counts.sum(),
            several=len(gain) > 1,
        )
        idle = int((counts == 0).sum())
        more = text("model_use_idle" if idle else "model_use_all", idle=idle, of=len(columns))
        self.message.emit(Statement.of(head, more, text("model_use_more")))

    def columns(self, found: list[FeatureUse]) -> Columns:
        columns = found[0].columns
        return {
            "column": list(columns) * len(found),
            "split": np.repeat(np.arange(1, len(found) + 1), len(columns)),
            "questions": [int(count) for use in found for count in use.splits],
            "variance_share": [float(share) for use in found for share in use.gain],
        }


Members = list[dict[str, MemberShare]]


class MembersPart(ChartPicture[Members]):
    """Members of a combination: dots are mean weights over splits; lines, single splits."""

    key: ClassVar = "members"
    title: ClassVar = "Members"
    tip: ClassVar = "model_members_tip"

    def __init__(self) -> None:
        super().__init__(WhiskerChart("model_members_plot", "Weight in the combination (%)"))

    def suits(self, run: ShownRun) -> bool:
        scorers = [split.model.scorer for split in run.record.splits]
        return all(isinstance(one, CombinationScorer) and one.members for one in scorers)

    def known(self, subject: ModelSubject) -> Members:
        scorers = [split.model.scorer for split in subject.record.splits]
        combined = [one.members for one in scorers if isinstance(one, CombinationScorer)]
        return [{member.title: member for member in members} for members in combined]

    def draw(self, subject: ModelSubject, found: Members) -> None:
        titles = list(dict.fromkeys(title for members in found for title in members))
        # A member that a split had to leave out has no weight there.
        weights = np.array([[100 * m[t].weight if t in m else 0.0 for t in titles] for m in found])
        figures = [
            np.mean([[m[t].auc, m[t].adds] for m in found if t in m], axis=0) for t in titles
        ]
        mean = weights.mean(axis=0)

        def tip(k: int) -> str:
            auc, adds = figures[k]
            shown = {"weight": mean[k], "auc": auc, "adds": 100 * adds}
            return text("model_members_row", name=titles[k], **shown)

        rows = Whiskers.over_splits(titles, weights, tip).ranked()
        self.chart.show_rows(rows, subject.run.look)
        alone, best = max((figure[0], t) for t, figure in zip(titles, figures, strict=True))
        is_run, most = bool(subject.record.experiment.members), rows[0]
        head = text("model_members_first", most=most.name, name=subject.name, weight=most.value)
        more = text("model_members_more", best=best, alone=alone, of_runs=is_run)
        self.message.emit(Statement(head, more))

    def columns(self, found: Members) -> Columns:
        shares = [(k, m) for k, members in enumerate(found, 1) for m in members.values()]
        return {
            "split": [k for k, _ in shares],
            "member": [m.title for _, m in shares],
            "weight": [m.weight for _, m in shares],
            "auc_alone": [m.auc for _, m in shares],
            "adds": [m.adds for _, m in shares],
        }


def is_linear(live: LiveRun) -> bool:
    """Return whether the run in progress has weights now."""
    look = live.picture
    return look is not None and live.preparation is not None and look.scorer.kind == "linear"


class WeightsPart(ChartPicture[Coefficients]):
    """Dots are means over the splits, or current weights of a run in progress; lines, splits."""

    key: ClassVar = "coefficients"
    title: ClassVar = "Coefficients"
    tip: ClassVar = "model_coefficients_tip"

    def __init__(self) -> None:
        super().__init__(WhiskerChart("model_weights_plot", text("model_weights_axis", step="")))
        self._first_split = 0
        self._look: Look | None = None
        self._order: Index = np.empty(0, dtype=np.intp)
        self._sorts_at = 0.0
        self._prepared: Preparation | None = None

    def suits(self, run: ShownRun) -> bool:
        return all(split.coef is not None for split in run.record.splits)

    def known(self, subject: ModelSubject) -> Coefficients | None:
        self.end_live()
        self._first_split = 0
        return coefficients(subject.record.splits)

    def draw(self, subject: ModelSubject, found: Coefficients) -> None:
        self.plot.setLabel("bottom", text("model_weights_axis", step=found.step))
        tip = functools.partial(_weight_tip, found)
        self.chart.show_rows(
            Whiskers.over_splits(found.names, found.weights, tip), subject.run.look
        )
        splits, turning = len(found.weights), int((found.same_sign < 1).sum())
        if not found.mean.any():
            self.message.emit(Statement(text("model_weights_none", name=subject.name)))
            return
        more = text(
            "model_weights_signs" if splits > 1 else "model_weights_one_split",
            count=len(found.names),
            turning=turning or None,
            none=not turning,
            one=turning < 2,
            splits=splits,
        )
        column, (count, share) = next(iter(found.of_columns.items()), ("", (0, 0.0)))
        together = text("model_weights_column", column=column, count=count, share=100 * share)
        head = _strongest(found, f"in {subject.name}")
        self.message.emit(Statement.of(head, together if count else "", more))

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

    def columns(self, found: Coefficients) -> Columns:
        splits, features = found.weights.shape
        return {
            "feature": list(found.names) * splits,
            "split": np.repeat(np.arange(1, splits + 1) + self._first_split, features),
            "weight_per_sd": found.weights.ravel(),
            "weight_per_unit": (found.weights / found.scales).ravel(),
        }


def _weight_tip(found: Coefficients, k: int) -> str:
    mean, scale = float(found.mean[k]), float(found.scales[k])
    column, share = found.columns[k], 100 * found.shares[k]
    lines = [text("model_weights_row", name=found.names[k], mean=plain_number(mean), share=share)]
    if column in found.of_columns:
        count, together = found.of_columns[column]
        shown = {"column": column, "count": count, "share": 100 * together}
        lines.append(text("model_weights_column", **shown))
    if not found.is_level[k] and not found.choice.makes_ranks:
        unit, of = plain_number(mean / scale), plain_number(scale)
        standard = found.choice.scale == STANDARD
        lines.append(text("model_weights_unit", per_unit=unit, standard=standard, scale=of))
    if len(found.weights) > 1:
        ends = np.nanmin(found.weights[:, k]), np.nanmax(found.weights[:, k])
        low, high = (plain_number(float(end)) for end in ends)
        same = 100 * found.same_sign[k]
        lines.append(text("model_weights_range", low=low, high=high, same=same))
    return "\n".join(lines)


def _live_sentence(live: LiveRun, found: Coefficients) -> Statement:
    count = len(found.names)
    split = live.split + 1 if live.splits > 1 else None
    head = text("model_weights_live", live=live, split=split)
    if not found.mean.any():
        return Statement(head, text("model_weights_live_none"))
    drawn = text("model_weights_drawn", count=count, most=MOST_ROWS) if count > MOST_ROWS else ""
    return Statement.of(head, _strongest(found, "so far"), drawn)


def _strongest(found: Coefficients, where: str) -> str:
    """Describe what the largest weight does to the score."""
    mean = found.mean
    k = int(np.abs(mean).argmax())
    return text(
        "model_weights_first",
        first=found.names[k],
        where=where,
        unit=None if found.is_level[k] else found.step,
        level=bool(found.is_level[k]),
        up=bool(mean[k] > 0),
        size=plain_number(abs(float(mean[k])), 3),
        share=100 * found.shares[k],
    )
