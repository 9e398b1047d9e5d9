"""Texts of the ROC page: values at the pointer, legend, conclusion."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aucstudio.engine import METHODS, inference
from aucstudio.engine.roc import cuts as cuts_of
from aucstudio.gui.common import curves
from aucstudio.gui.common.curves import (
    SCALES,
    RunCurves,
    area_words,
    band_words,
    run_curves,
    vertex_words,
)
from aucstudio.gui.common.plain_text import Markup, joined, rich, shortened
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.pages.roc.cards import LegendRow
from aucstudio.gui.pages.roc.curve_kinds import Face, Shape
from aucstudio.gui.pages.roc.lines import Drawn, shapes_of
from aucstudio.gui.pages.roc.operating_point import FocusedPoint
from aucstudio.gui.state.session import Session, ShownRun
from aucstudio.notices.words import (
    counted,
    figure_words,
    interval_words,
    p_words,
    p_words_corrected,
)
from aucstudio.project.results.comparison import PAUC, compare_runs
from aucstudio.project.results.summary import (
    LEVEL,
    Estimate,
    pauc_summary,
    ranks_backwards,
    same_rows,
    trained_for,
)
from aucstudio.project.runs.experiments.experiment import Band
from aucstudio.project.runs.record import RunRecord

FEW_NEGATIVES = 20
_MOST_NAMES = 2


def trained_elsewhere(record: RunRecord, band: Band) -> bool:
    """Return whether a run was trained for another FPR range than this one."""
    trained = trained_for(record)
    return trained is not None and bool(np.abs(np.subtract(trained, band)).max() > 1e-9)


def what_next(session: Session) -> str:
    """State the next step if there is no curve."""
    if session.live is not None:
        return f"{session.live.look.name} is training; its ROC curve changes during training."
    if any(run.record.splits for run in session.shown_runs()):
        return "No run is checked: tick a run in the list, and its ROC curve appears here."
    if session.table is None:
        return "Open a table first; the ROC curves of its runs appear here."
    title = METHODS[session.plan.method].title
    return f"Press Run to train {title}; its ROC curve appears here."


def face_sentence(face: Face, runs: list[ShownRun]) -> Statement:
    """State the best and the second run by the figure of a face, and chance level."""
    if not runs:
        return Statement()
    figures = {run: float(np.mean(shapes_of(run.record, face).figures)) for run in runs}
    ranked = sorted(runs, key=lambda run: -face.better * figures[run])
    best = ranked[0]
    superlative = "highest" if face.better > 0 else "lowest"
    shown = figure_words(figures[best])
    text = f"{best.look.name} has the {superlative} {face.figure_words}, {shown}"
    if len(runs) == 1:
        text = f"{best.look.name}: {face.figure_words} {shown}"
    elif shown == figure_words(figures[ranked[1]]):
        text = f"{best.look.name} and {ranked[1].look.name} have the {superlative} "
        text += f"{face.figure_words}, {shown}"
    else:
        text += f"; {ranked[1].look.name} has {figure_words(figures[ranked[1]])}"
    if any(len(run.record.splits) > 1 for run in ranked[:2]):
        text += " (means over splits)"
    return Statement(f"{text}.", _chance_words(face, best.record))


def _chance_words(face: Face, record: RunRecord) -> str:
    share = positives_share(record)
    return {
        "precision": f"Chance gives {share:.3f}, the share of positives.",
        "gain": "Chance finds 0.100 of the positives there.",
        "lift": f"Chance gives 1, and no ranking more than {min(1 / share, 10):.3g} there.",
        "cost": "Without any information it is 0.250.",
    }.get(face.key, "")


def positives_share(record: RunRecord) -> float:
    """Return the share of positives among the held-out rows, over all splits."""
    return float(
        np.mean([np.average(s.test_positive, weights=s.test_weights) for s in record.splits])
    )


def roc_sentence(runs: list[ShownRun], band: Band) -> Statement:
    """State which run ranks best in the range, with its uncertainty."""
    if not runs:
        return Statement()
    ranked = sorted(runs, key=lambda run: -run_curves(run.record).area(band))
    text = Statement(_one_run(ranked[0], band)) if len(runs) == 1 else _best_two(ranked, band)
    flags = [*_wrong_way(runs), *trained_words(runs, band)]
    return text.then(_deciding(ranked[:2], band), *flags)


def _one_run(run: ShownRun, band: Band) -> str:
    area = run_curves(run.record).auc
    words = f"{run.look.name}: AUC {_with_interval(area)}"
    if band != (0.0, 1.0):
        part = pauc_summary(run.record, band)
        words += f"; normalised pAUC {_with_interval(part)} in FPR {band_words(band)}"
    if len(run.record.splits) > 1:
        words += f"; means of {len(run.record.splits)} splits"
    return f"{words}."


def _with_interval(summary: Estimate) -> str:
    return f"{figure_words(summary.value)} ({summary.interval})"


def _best_two(runs: list[ShownRun], band: Band) -> Statement:
    best, second = runs[:2]
    where = "Over the whole curve" if band == (0.0, 1.0) else f"In FPR {band_words(band)}"
    names = best.look.name, second.look.name
    if not same_rows(best.record, second.record):
        a, b = (run_curves(run.record).area(band) for run in (best, second))
        return Statement(
            f"{where}, {names[0]} has a normalised pAUC of {figure_words(a)} and {names[1]} of "
            f"{figure_words(b)}, on different test rows: not comparable pair by pair."
        )
    difference, sure, significant = _compared(runs, band)
    verdict = "significant" if significant else "not significant"
    if figure_words(difference) == "0.000":
        return Statement(f"{where}, {names[0]} and {names[1]} are level: {verdict}.", sure)
    lead = figure_words(difference)
    return Statement(f"{where}, {names[0]} is {lead} higher than {names[1]}: {verdict}.", sure)


def _compared(runs: list[ShownRun], band: Band) -> tuple[float, str, bool]:
    """Return the lead of the first run over the second, its uncertainty and significance.

    The two are the best of all that are shown, so p is corrected for all their pairs, as on the
    Compare page.
    """
    named = [(run.look.name, run.record) for run in runs]
    pairs = compare_runs(named, band, PAUC)
    pair, tests = pairs[0], sum(not math.isnan(pair.p) for pair in pairs)
    splits = len(runs[0].record.splits)
    mean = f"Mean of {splits} splits, " if splits > 1 else ""
    if pair.reason:
        no = "no" if mean else "No"
        return pair.difference, f"{mean}{no} test: {pair.reason}.", pair.significant
    known = p_words(pair.p)
    if tests > 1:
        known = f"{p_words_corrected(pair.p, pair.p_corrected, 'Holm')} ({tests} pairs)"
    sure = f"{mean}{_bounds(pair.low, pair.high)}, {known}."
    return pair.difference, sure, pair.significant


def _bounds(low: float, high: float) -> str:
    if not np.isfinite(low):
        return "too few rows for an interval"
    return f"95 % {interval_words(low, high)}"


def _deciding(runs: list[ShownRun], band: Band) -> str:
    count = min(run_curves(run.record).negatives(band) for run in runs)
    several = any(len(run.record.splits) > 1 for run in runs)
    words = f"{counted(count, 'negative')} in the range"
    words += " in the smallest split" if several else ""
    few = ": too few for a precise area" if count < FEW_NEGATIVES else ""
    return f"{words}{few}."


def _wrong_way(runs: list[ShownRun]) -> list[str]:
    """Warn of scores that rank significantly worse than chance."""
    found = [
        f"{run.look.name} (AUC {figure_words(run_curves(run.record).auc.value)})"
        for run in runs
        if ranks_backwards(run_curves(run.record).auc)
    ]
    if not found:
        return []
    verb = "ranks" if len(found) == 1 else "rank"
    return [f"{', '.join(found)} {verb} in reverse: check which class is the positive one."]


def trained_words(runs: list[ShownRun], band: Band) -> list[str]:
    """List runs trained for another range than the one shown."""
    found = [run for run in runs if trained_elsewhere(run.record, band)]
    if not found:
        return []
    trained = {run.look.name: trained_for(run.record) for run in found[:_MOST_NAMES]}
    words = [f"{name} was trained for FPR {band_words(b)}" for name, b in trained.items() if b]
    more = len(found) - len(trained)
    rest = f", {more} more for other ranges" if more else ""
    return [f"{', '.join(words)}{rest}: not the range shown."]


ELSEWHERE = "†"


def point_words(face: Face, drawn: Drawn, vertex: int) -> str:
    """Describe a point of a line."""
    words = _shape_words(face, drawn.shape, vertex)
    return f"{shortened(drawn.run.look.name)}   {words}"


def _shape_words(face: Face, shape: Shape, vertex: int) -> str:
    if face.key == "roc":
        return vertex_words(shape.trace, vertex)
    x, y = (float(values[vertex]) for values in shape.points)
    if shape.spread is not None:
        spread = f"(sd {shape.spread[vertex]:.3f} over {shape.trace.splits} splits)"
        return f"{face.x_title.lower()} {x:.3f}   mean {face.y_title.lower()} {y:.3f} {spread}"
    at = f"{face.x_title.lower()} {x:.3f}   {face.y_title.lower()} {y:.3f}"
    if not shape.counted:
        return at
    known = vertex_words(shape.trace, vertex)
    return known if face.key == "precision" else f"{at}   {known}"


def operating_words(point: FocusedPoint) -> str:
    """Describe the operating point."""
    split = run_curves(point.run.record).every[point.split]
    words = vertex_words(split, point.vertex, point.threshold)
    return f"{shortened(point.run.look.name)}   {words}"


def range_words(run: ShownRun | None, band: Band, scale: str) -> str:
    """Describe an FPR range, and the partial area of a run in it."""
    words = f"FPR {curves.band_words(band)}"
    if run is None:
        return words
    known = run_curves(run.record)
    area = f"{SCALES[scale]} {area_words(known.area(band, scale), scale)}"
    return f"{shortened(run.look.name)}   {words}   {area}   {deciding_words(known, band)}"


def deciding_words(known: RunCurves, band: Band) -> str:
    """State how many negatives lie in a range, in the smallest split."""
    least = min(known.areas(band), key=lambda area: area.negatives)
    return f"{least.negatives:,} of {least.of_negatives:,} negatives"


def legend_row(run: ShownRun, band: Band) -> LegendRow:
    """Name a run in the legend, with a mark where it was trained for another range."""
    mark = f" {ELSEWHERE}" if trained_elsewhere(run.record, band) else ""
    return LegendRow(run.look, f"{shortened(run.look.name)}{mark}")


def figure_cells(face: Face, run: ShownRun) -> list[str]:
    """Write the figure of a picture and its 95 % interval, if any."""
    record = run.record
    if face.key == "roc":
        auc = run_curves(record).auc
        return [figure_words(auc.value), interval_words(auc.low, auc.high)]
    values = shapes_of(record, face).figures
    if len(values) < 2:
        return [figure_words(values[0]), ""]
    train, test = record.sizes
    top = np.inf if face.key == "lift" else 1.0
    once = record.experiment.validation.disjoint
    share = test / (train + test)
    found = inference.splits_interval(values, LEVEL, share, bounds=(0.0, top), disjoint=once)
    return [figure_words(found.value), interval_words(found.low, found.high)]


def notes(face: Face, runs: Sequence[ShownRun], band: Band, confidence: str) -> list[str]:
    """Return the small print under the legend."""
    if face.key != "roc" or not runs:
        return []
    known = min((run_curves(run.record) for run in runs), key=lambda known: known.negatives(band))
    several = any(len(run.record.splits) > 1 for run in runs)
    deciding = f"{deciding_words(known, band)} in the range{' of a split' if several else ''}"
    sentences = [] if band == (0.0, 1.0) else [deciding]
    weighing = {run.record.experiment.weight for run in runs} - {None}
    sentences += [f"Weighted by {name}" for name in sorted(filter(None, weighing))]
    if any(trained_elsewhere(run.record, band) for run in runs):
        sentences.append(f"{ELSEWHERE} trained for another FPR range")
    if confidence:
        sentences.append(f"Band: {confidence}")
    return sentences


def figure_table(face: Face, runs: Sequence[ShownRun], band: Band) -> Markup:
    """Write the figures of the runs, and partial areas on every scale with their limits."""
    if not runs:
        return joined("", ())
    heads = ["", face.figure_title, "95 %"]
    rows = [[shortened(run.look.name), *figure_cells(face, run)] for run in runs]
    title = face.title
    if face.key == "roc":
        heads += [f"pAUC, {scale}" for scale in ("raw", "normalised", "McClish")] + ["negatives"]
        rows = [cells + _area_cells(run, band) for cells, run in zip(rows, runs, strict=True)]
        limits = run_curves(runs[0].record).areas(band)[0]
        chance, best = limits.chance, limits.maximum
        ratio = f"{chance / best:.3f}"
        rows.append(["chance", "0.500", "", area_words(chance, "raw"), ratio, "0.500", ""])
        rows.append(["perfect", "1.000", "", area_words(best, "raw"), "1.000", "1.000", ""])
        title = f"ROC, FPR {curves.band_words(band)}"
    lines = [_html_row(cells) for cells in (heads, *rows)]
    return rich("<b>{}</b><table cellspacing=6>{}</table>", title, joined("", lines))


def _area_cells(run: ShownRun, band: Band) -> list[str]:
    known = run_curves(run.record)
    raw, normal, standard = (known.area(band, s) for s in ("raw", "normalized", "mcclish"))
    deciding = f"{known.negatives(band):,}"
    figures = area_words(raw, "raw"), figure_words(normal), figure_words(standard)
    return [*figures, deciding]


def _html_row(cells: Sequence[str]) -> Markup:
    name, *numbers = cells
    cut = joined("", (rich("<td align=right>{}</td>", number) for number in numbers))
    return rich("<tr><td>{}</td>{}</tr>", name, cut)


def line_columns(face: Face, lines: Sequence[Drawn]) -> dict[str, list[object]]:
    """Return the points of the lines in long form; split 0 is the average."""
    across, up = face.names
    columns: dict[str, list[object]] = {
        name: [] for name in ("run", "split", across, up, "threshold")
    }
    for drawn in lines:
        shape, curve = drawn.shape, drawn.shape.trace.curve
        x, y = shape.points
        averaged = shape.spread is not None and shape.trace.splits > 1
        cuts = (
            cuts_of(curve)
            if curve is not None
            and len(x) == len(curve.thresholds)
            and (shape.counted or face.key == "roc")
            else np.full(len(x), np.nan)
        )
        columns["run"] += [drawn.run.look.name] * len(x)
        columns["split"] += [0 if averaged else shape.trace.split + 1] * len(x)
        columns[across] += x.tolist()
        columns[up] += y.tolist()
        columns["threshold"] += np.asarray(cuts, dtype=np.float64).tolist()
    return columns
