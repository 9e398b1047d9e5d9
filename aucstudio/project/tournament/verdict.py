"""Result of a search as text and data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from aucstudio.engine import DECLARED
from aucstudio.engine.inference import TestResult, settled
from aucstudio.engine.roc import ThresholdRule, roc_curve
from aucstudio.notices import texts
from aucstudio.project.data.choices import listed
from aucstudio.project.data.splitting.validation import FILE, Validation
from aucstudio.project.data.table import Table
from aucstudio.project.results.cautions import cautions
from aucstudio.project.results.documents import result_document
from aucstudio.project.results.summary import Summary, auc_summary, number, pauc_summary
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.tournament.candidate_comparison import ERRORS
from aucstudio.project.tournament.leaderboard import COMBINATION, Duel, Entry, Leaderboard
from aucstudio.project.tournament.standings import OperatingPoint, Verdict
from aucstudio.project.words import (
    aligned,
    counted,
    figure_words,
    interval_words,
    p_words,
    p_words_corrected,
    range_words,
)

_NONE = "–"
_TESTED = "paired tests, corrected for their number"


def threshold_rule(board: Leaderboard) -> ThresholdRule:
    """Return the rule for the decision threshold: the end of the range."""
    return ThresholdRule("fpr", fpr=board.band[1])


def operating_point(board: Leaderboard) -> OperatingPoint:
    """Place the threshold of the best model on the held-out rows."""
    assert board.best is not None
    assert board.best.record is not None
    (split,) = board.best.record.splits
    positive, weights = split.test_positive, split.test_weights
    place = threshold_rule(board).place(roc_curve(positive, split.test_scores, weights=weights))
    called = split.test_scores > place
    each = np.ones(len(called)) if weights is None else weights
    fpr, tpr = (
        float(np.average(called[rows], weights=each[rows])) for rows in (~positive, positive)
    )
    return OperatingPoint(place, fpr, tpr)


def table_text(board: Leaderboard) -> str:
    """Return the leaderboard as text."""
    low, high = board.band
    rows: list[tuple[str, ...]] = [
        (
            "method",
            "cross-validated",
            "held out",
            "optimism",
            "AUC",
            "95 % interval",
            f"pAUC [{low:g}, {high:g}]",
            "95 % interval",
            "s",
        )
    ]
    rows += [_row(entry, board) for entry in board.entries]
    return "\n".join([f"Ranking criterion: {criterion_words(board)}", *aligned(rows)])


def criterion_words(board: Leaderboard) -> str:
    """Name the ranking criterion: ``51 % pAUC in FPR 0 … 0.1 and 49 % AUC``."""
    share = round(100 * board.criterion.share)
    if board.fpr_range is None or share == 0:
        return "AUC"
    part = f"pAUC in FPR {range_words(board.fpr_range)}"
    return part if share == 100 else f"{share} % {part} and {100 - share} % AUC"


def _row(entry: Entry, board: Leaderboard) -> tuple[str, ...]:
    seconds = f"{entry.seconds:.3g}"
    if entry.record is None:
        return entry.title, f"{entry.inner:.4f}", *[_NONE] * 6, seconds
    area, part = auc_summary(entry.record), pauc_summary(entry.record, board.band)
    figures = f"{entry.inner:.4f}", f"{entry.outer:.4f}", f"{entry.optimism:+.4f}"
    return entry.title, *figures, *_cells(area), *_cells(part), seconds


def _cells(found: Summary) -> tuple[str, str]:
    return f"{found.value:.4f}", _interval(found.low, found.high)


def _interval(low: float, high: float) -> str:
    return interval_words(low, high) if np.isfinite(low) else _NONE


def sentences(board: Leaderboard) -> tuple[str, ...]:
    """Return the sentences of the verdict."""
    return verdict(board).sentences


def verdict(board: Leaderboard) -> Verdict:
    """Return the verdict, sentence by sentence."""
    best = board.best
    if best is None or best.record is None:
        return Verdict("No method was tested on the held-out rows.")
    (split,) = best.record.splits
    judged = split.test_positive
    if split.test_weights is not None:
        judged = judged[split.test_weights > 0]
    positives = int(np.count_nonzero(judged))
    area, part = auc_summary(best.record), pauc_summary(best.record, board.band)
    low, high = board.band
    point = operating_point(board)
    seen = " that no choice has used" if board.unseen else ", some of which were trained on"
    heavy = [m for m in best.members if m.weight >= 0.005]
    weights = ", ".join(f"{m.title} {100 * m.weight:.0f} %" for m in heavy)
    return Verdict(
        f"The best is {best.name}: AUC {_figure(area)}, pAUC in FPR {low:g} … {high:g}: "
        f"{_figure(part)}, on {len(judged)} rows{_of_file(best.record.experiment.validation)} "
        f"({counted(positives, 'positive')}){seen}.",
        f"At its threshold {point.threshold:.4g} the FPR is {point.fpr:.3f} and the TPR "
        f"{point.tpr:.3f}.",
        f"It combines {weights}." if heavy else "",
        _runner_up(board) if board.duels else "",
        _what_settles(board),
        "" if board.simplest is None else _simpler(board.simplest, board),
        _choice(board),
        _refit(board, best.record),
    )


def _of_file(validation: Validation) -> str:
    return f" of {Path(validation.test_file).name}" if validation.scheme == FILE else ""


def _figure(found: Summary) -> str:
    told = np.isfinite(found.low)
    interval = _interval(found.low, found.high) if told else "too few rows for an interval"
    return f"{figure_words(found.value)} ({interval})"


def _difference(test: TestResult) -> str:
    ends = (figure_words(end, "+") for end in (test.low, test.high))
    return f"{figure_words(test.difference, '+')} ({' … '.join(ends)})"


def _difference_and_p(duel: Duel, board: Leaderboard) -> str:
    """Return the difference and its p-value; corrected ones are explained."""
    tests = sum(bool(np.isfinite(one.p)) for one in board.duels)
    p = p_words(duel.p)
    if tests > 1:
        p = f"{p_words_corrected(duel.test.p, duel.p, 'Holm')} ({tests} tests)"
    return f"difference {_difference(duel.test)}, {p}"


def _measure(board: Leaderboard) -> str:
    return "AUC" if board.fpr_range is None else "pAUC of the range"


def _choice(board: Leaderboard) -> str:
    """Return why the combination, or a single method, is handed over."""
    choice = board.choice
    if choice is None or choice.lead is None or choice.error is None:
        return ""
    rule = (
        f"a single method is taken only if it leads the combination by {ERRORS:g} standard errors"
    )
    lead = f"{figure_words(choice.lead, '+')} with a standard error of {choice.error:.3f}"
    return (
        "Cross-validated on the training rows, the best single method minus the combination "
        f"is {lead}; {rule}."
    )


def _refit(board: Leaderboard, record: RunRecord) -> str:
    """Return which rows the model to take away was trained on."""
    (split,) = record.splits
    if board.model is not None:
        return (
            f"The exported model was refit on {board.model.trained_on}; the figures are those "
            f"of the model trained on the {split.n_train:,} training rows."
        )
    if board.not_refit:
        return (
            f"The exported model is the one that was tested, trained on {split.n_train:,} "
            f"rows; it was not refit on all rows: {board.not_refit}."
        )
    return ""


def _runner_up(board: Leaderboard) -> str:
    duel = board.duels[0]
    test = duel.test
    if not np.isfinite(test.low):
        return f"The runner-up is {duel.other.name}; the difference was not tested: {test.reason}."
    return f"The runner-up is {duel.other.name}: {_difference_and_p(duel, board)}."


def _what_settles(board: Leaderboard) -> str:
    told = [
        (DECLARED[d.other.method].title, d.test.difference) for d in board.duels if settled(d.p)
    ]
    behind = [title for title, difference in told if difference > 0]
    ahead = [title for title, difference in told if difference < 0]
    what = _measure(board)
    if not board.duels:
        return "No other method was tested on the held-out rows."
    if ahead:
        return (
            f"On the held-out rows the {what} of {listed(ahead)} is significantly higher "
            f"({_TESTED})."
        )
    if not behind:
        return f"No difference of the {what} on the held-out rows is significant ({_TESTED})."
    return f"The {what} is significantly higher than that of {listed(behind)} ({_TESTED})."


def _simpler(duel: Duel, board: Leaderboard) -> str:
    most = 100 * max(0.0, duel.cost)
    return (
        f"{duel.other.name} is simpler and loses at most {most:.1f} points of "
        f"{_measure(board)} (difference {_difference(duel.test)}, 95 % interval)."
    )


def remarks(board: Leaderboard) -> Iterator[str]:
    """Yield what was not done, and how far the figures can be trusted."""
    if board.not_begun:
        why = "the search was stopped" if board.ended == "stopped" else "no time was left"
        count = len(board.not_begun)
        shown = ", ".join(board.not_begun[:3]) + (", …" if count > 3 else "")
        yield f"{count} {'was' if count == 1 else 'were'} not started because {why}: {shown}"
    for entry in board.entries:
        if entry.why and not entry.failed:
            yield f"{DECLARED[entry.method].title} was not tested: {entry.why}"
    for sentence in board.failed:
        yield f"left out: {sentence}"
    if board.best is not None and board.best.method == COMBINATION:
        yield "the combination that was tested consists of the models of the folds"
    yield from board.notes
    if board.best is not None and board.best.record is not None:
        yield from texts(cautions(board.best.record))


def best_document(board: Leaderboard, table: Table, model: str | None = None) -> dict[str, Any]:
    """Return the document of ``best --json``."""
    records = [entry.record for entry in board.entries if entry.record is not None]
    duels = {id(duel.other): duel for duel in board.duels}
    choice = board.choice
    document = {
        **result_document(table, records, board.band),
        "fpr_range": None if board.fpr_range is None else list(board.fpr_range),
        "criterion": dataclasses.asdict(board.criterion),
        "choice": None
        if choice is None
        else {"lead": choice.lead, "error": choice.error, "errors": ERRORS},
        "ended": board.ended,
        "seconds": board.spent,
        "fits": board.fits,
        "leaderboard": [_entry_json(entry, duels.get(id(entry))) for entry in board.entries],
        "best": None if board.best is None else _best_json(board, board.best, model),
        "not_begun": list(board.not_begun),
        "failed": list(board.failed),
        "notes": list(board.notes),
        "says": list(sentences(board)),
    }
    return document | ({"unsaved": board.unsaved} if board.unsaved else {})


def _entry_json(entry: Entry, duel: Duel | None) -> dict[str, Any]:
    return {
        "method": entry.method,
        "settings": entry.settings,
        "run": None if entry.record is None else entry.record.id,
        "inner": entry.inner,
        "inner_low": entry.estimate.low,
        "inner_high": entry.estimate.high,
        "why": entry.why,
        "held_out": number(entry.outer),
        "optimism": number(entry.optimism),
        "seconds": entry.seconds,
        "behind": None
        if duel is None
        else dataclasses.asdict(duel.lead) | {"settled": settled(duel.p)},
    }


def _best_json(board: Leaderboard, best: Entry, model: str | None) -> dict[str, Any]:
    assert best.record is not None
    simplest = board.simplest
    return {
        "method": best.method,
        "settings": best.settings,
        "run": best.record.id,
        "threshold": dataclasses.asdict(operating_point(board)),
        "members": [dataclasses.asdict(member) for member in best.members],
        "simpler": None if simplest is None else simplest.other.method,
        "simpler_cost": None if simplest is None else simplest.cost,
        "trained_on": best.record.splits[0].model.trained_on
        if board.model is None
        else board.model.trained_on,
        "model": model,
    }
