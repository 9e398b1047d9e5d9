"""The sentence under the ROC picture: who ranks best, how sure that is, and what decides it."""

from __future__ import annotations

import numpy as np

from aucstudio.engine import METHODS, inference
from aucstudio.engine.params import declared_params
from aucstudio.gui.curves import band_words, run_curves
from aucstudio.gui.roc.faces import Face
from aucstudio.gui.roc.lines import shapes_of
from aucstudio.gui.session import Session, ShownRun
from aucstudio.project.results.summary import LEVEL, Summary, pauc_summary, same_rows
from aucstudio.project.runs.experiment import Band
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.words import figure_words, interval_words, p_words

FEW_NEGATIVES = 20
_MOST_NAMES = 2


def trained_range(record: RunRecord) -> Band | None:
    """Give the FPR range that a run was trained for, where its method takes one."""
    declared = declared_params(METHODS[record.experiment.method]).get("fpr_range")
    if declared is None:
        return None
    low, high = record.params.get("fpr_range", declared.default)
    return float(low), float(high)


def trained_elsewhere(record: RunRecord, band: Band) -> bool:
    """Tell whether a run was trained for another FPR range than this one."""
    trained = trained_range(record)
    return trained is not None and bool(np.abs(np.subtract(trained, band)).max() > 1e-9)


def what_next(session: Session) -> str:
    """Say what to do for a curve to appear."""
    if session.live is not None:
        return f"{session.live.look.name} is training; its ROC curve moves as it learns."
    if any(run.record.splits for run in session.shown_runs()):
        return "No run is checked: tick a run in the list, and its ROC curve appears here."
    if session.table is None:
        return "Open a table first; the ROC curves of its runs appear here."
    title = METHODS[session.plan.method].title
    return f"Press Run to train {title}; its ROC curve appears here."


def face_sentence(face: Face, runs: list[ShownRun]) -> str:
    """Say whose number of a face is best, what the next one's is, and what chance gives."""
    if not runs:
        return ""
    figures = {run: float(np.mean(shapes_of(run.record, face).figures)) for run in runs}
    ranked = sorted(runs, key=lambda run: -face.better * figures[run])
    best = ranked[0]
    superlative = "highest" if face.better > 0 else "lowest"
    shown = figure_words(figures[best])
    told = f"{best.look.name} has the {superlative} {face.figure_words}, {shown}"
    if len(runs) == 1:
        told = f"{best.look.name}: {face.figure_words} {shown}"
    elif shown == figure_words(figures[ranked[1]]):
        told = f"{best.look.name} and {ranked[1].look.name} have the {superlative} "
        told += f"{face.figure_words}, {shown}"
    else:
        told += f"; {ranked[1].look.name} has {figure_words(figures[ranked[1]])}"
    if any(len(run.record.splits) > 1 for run in ranked[:2]):
        told += " (means over splits)"
    return f"{told}. {_chance_words(face, best.record)}"


def _chance_words(face: Face, record: RunRecord) -> str:
    share = positives_share(record)
    return {
        "precision": f"Chance gives {share:.3f}, the share of positives.",
        "gain": "Chance finds 0.100 of the positives there.",
        "lift": f"Chance gives 1, and no ranking more than {min(1 / share, 10):.3g} there.",
        "cost": "Without knowledge it is 0.250.",
    }.get(face.key, "")


def positives_share(record: RunRecord) -> float:
    """Give the share of positives among the held-out rows, over all splits."""
    return float(np.mean([split.test_positive.mean() for split in record.splits]))


def roc_sentence(runs: list[ShownRun], band: Band) -> str:
    """Say who ranks best in the band, how sure that is, and what decides it."""
    if not runs:
        return ""
    ranked = sorted(runs, key=lambda run: -run_curves(run.record).area(band))
    told = _one_run(ranked[0], band) if len(runs) == 1 else _best_two(ranked[0], ranked[1], band)
    flags = [*_wrong_way(runs), *_trained_words(runs, band)]
    return " ".join([told, _deciding(ranked[:2], band), *flags])


def _one_run(run: ShownRun, band: Band) -> str:
    area = run_curves(run.record).auc
    words = f"{run.look.name}: AUC {_with_interval(area)}"
    if band != (0.0, 1.0):
        part = pauc_summary(run.record, band)
        words += f"; normalised pAUC {_with_interval(part)} in FPR {band_words(band)}"
    if len(run.record.splits) > 1:
        words += f"; means of {len(run.record.splits)} splits"
    return f"{words}."


def _with_interval(summary: Summary) -> str:
    known = np.isfinite(summary.low)
    interval = f"95 % {interval_words(summary.low, summary.high)}" if known else "no interval"
    return f"{figure_words(summary.value)} ({interval})"


def _best_two(best: ShownRun, second: ShownRun, band: Band) -> str:
    where = "Over the whole curve" if band == (0.0, 1.0) else f"In FPR {band_words(band)}"
    names = best.look.name, second.look.name
    if not same_rows(best.record, second.record):
        a, b = (run_curves(run.record).area(band) for run in (best, second))
        return (
            f"{where}, {names[0]} has a normalised pAUC of {figure_words(a)} and {names[1]} of "
            f"{figure_words(b)}, on "
            "different test rows: not comparable pair by pair."
        )
    difference, sure, settled = _compared(best.record, second.record, band)
    verdict = "settled" if settled else "not settled"
    if figure_words(difference) == "0.000":
        return f"{where}, {names[0]} and {names[1]} are level ({sure}): {verdict}."
    lead = figure_words(difference)
    return f"{where}, {names[0]} leads {names[1]} by {lead} ({sure}): {verdict}."


def _compared(a: RunRecord, b: RunRecord, band: Band) -> tuple[float, str, bool]:
    """Give the difference of the normalised areas, its uncertainty in words, and the verdict."""
    if len(a.splits) == 1:
        one, other = a.splits[0], b.splits[0]
        test = inference.pauc_test(
            one.test_positive, one.test_scores, other.test_scores, *band, LEVEL
        )
        sure = f"{_bounds(test.low, test.high)}, {p_words(test.p)}"
        return test.difference, sure, test.p < 1 - LEVEL
    pairs = zip(run_curves(a).areas(band), run_curves(b).areas(band), strict=True)
    differences = [x.normalized - y.normalized for x, y in pairs]
    train, test_rows = len(a.splits[0].train_rows), len(a.splits[0].test_rows)
    found = inference.splits_interval(
        differences, LEVEL, test_fraction=test_rows / (train + test_rows), bounds=(-1.0, 1.0)
    )
    sure = f"mean of {len(differences)} splits, {_bounds(found.low, found.high)}"
    return found.value, sure, found.low > 0 or found.high < 0


def _bounds(low: float, high: float) -> str:
    if not np.isfinite(low):
        return "too few rows for an interval"
    return f"95 % {interval_words(low, high)}"


def _deciding(runs: list[ShownRun], band: Band) -> str:
    count = min(run_curves(run.record).negatives(band) for run in runs)
    several = any(len(run.record.splits) > 1 for run in runs)
    words = f"{count:,} negative{'' if count == 1 else 's'} decide{'s' if count == 1 else ''}"
    words += f" this band{' in the smallest split' if several else ''}"
    few = ": the area rests on few negatives" if count < FEW_NEGATIVES else ""
    return f"{words}{few}."


def _wrong_way(runs: list[ShownRun]) -> list[str]:
    """Warn of scores that rank worse than chance."""
    found = [
        f"{run.look.name} (AUC {figure_words(area)})"
        for run in runs
        if (area := run_curves(run.record).auc.value) < 0.5
    ]
    if not found:
        return []
    verb = "ranks" if len(found) == 1 else "rank"
    return [
        f"{', '.join(found)} {verb} the wrong way round: check which class is the positive one."
    ]


def _trained_words(runs: list[ShownRun], band: Band) -> list[str]:
    """Tell of runs that were trained for another range than the one shown."""
    found = [run for run in runs if trained_elsewhere(run.record, band)]
    if not found:
        return []
    trained = {run.look.name: trained_range(run.record) for run in found[:_MOST_NAMES]}
    words = [f"{name} was trained for FPR {band_words(b)}" for name, b in trained.items() if b]
    more = len(found) - len(trained)
    rest = f", {more} more for other ranges" if more else ""
    return [f"{', '.join(words)}{rest}: not the range shown."]
