"""What a tournament says in the end, as text and as plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from aucstudio.engine import METHODS
from aucstudio.engine.inference import TestResult, settled
from aucstudio.engine.roc import ThresholdRule
from aucstudio.project.data.choices import listed
from aucstudio.project.data.splitting.validation import FILE, Validation
from aucstudio.project.data.table import Table
from aucstudio.project.results.cautions import cautions
from aucstudio.project.results.documents import result_document
from aucstudio.project.results.summary import Summary, auc_summary, number, pauc_summary
from aucstudio.project.tournament.leaderboard import COMBINATION, Duel, Entry, Leaderboard
from aucstudio.project.tournament.standings import OperatingPoint, Verdict
from aucstudio.project.words import counted, figure_words

_NONE = "–"
_TESTED = "paired tests, corrected for their number"


def threshold_rule(board: Leaderboard) -> ThresholdRule:
    """Say where the best model begins to call rows positive: at the end of the range."""
    return ThresholdRule("fpr", fpr=board.band[1])


def operating_point(board: Leaderboard) -> OperatingPoint:
    """Place the threshold of the best model on the held-out rows."""
    assert board.best is not None
    assert board.best.record is not None
    (split,) = board.best.record.splits
    positive, weights = split.test_positive, split.test_weights
    place = threshold_rule(board).place(positive, split.test_scores, weights=weights)
    called = split.test_scores > place
    each = np.ones(len(called)) if weights is None else weights
    fpr, tpr = (
        float(np.average(called[rows], weights=each[rows])) for rows in (~positive, positive)
    )
    return OperatingPoint(place, fpr, tpr)


def table_text(board: Leaderboard) -> str:
    """Lay out the leaderboard."""
    low, high = board.band
    rows: list[tuple[str, ...]] = [
        (
            "method",
            "chosen by",
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
    widths = np.array([[len(cell) for cell in row] for row in rows]).max(axis=0)
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


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
    return f"{low:.3f} … {high:.3f}" if np.isfinite(low) else _NONE


def sentences(board: Leaderboard) -> tuple[str, ...]:
    """Say which model is best, what it rests on, what settles that, and what would do as well."""
    return verdict(board).sentences


def verdict(board: Leaderboard) -> Verdict:
    """Do the same, part by part."""
    best = board.best
    if best is None or best.record is None:
        return Verdict("No method was judged on the held-out rows.")
    (split,) = best.record.splits
    judged = split.test_positive
    if split.test_weights is not None:
        judged = judged[split.test_weights > 0]
    positives = int(np.count_nonzero(judged))
    area, part = auc_summary(best.record), pauc_summary(best.record, board.band)
    low, high = board.band
    point = operating_point(board)
    heavy = [m for m in best.members if m.weight >= 0.005]
    weights = ", ".join(f"{m.title} {100 * m.weight:.0f} %" for m in heavy)
    return Verdict(
        f"The best is {best.name}: AUC {_figure(area)}, pAUC in FPR {low:g} … {high:g}: "
        f"{_figure(part)}, on {len(judged)} rows{_of_file(best.record.experiment.validation)} "
        f"({counted(positives, 'positive')}){_seen_by(board)}.",
        f"At its threshold {point.threshold:.4g} the FPR there is {point.fpr:.3f} and the TPR "
        f"{point.tpr:.3f}.",
        f"It rests on {weights}." if heavy else "",
        _runner_up(board) if board.duels else "",
        _what_settles(board),
        "" if board.simplest is None else _simpler(board.simplest),
    )


def _seen_by(board: Leaderboard) -> str:
    return " that no choice has seen" if board.unseen else ", some of which were trained on"


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
    """Say both; an interval without zero beside a large p would puzzle, were p not explained."""
    tests = sum(bool(np.isfinite(one.p)) for one in board.duels)
    many = f" corrected for {tests} tests" if tests > 1 else ""
    return f"difference {_difference(duel.test)}, p = {duel.p:.2g}{many}"


def _runner_up(board: Leaderboard) -> str:
    duel = board.duels[0]
    test = duel.test
    if not np.isfinite(test.low):
        return f"The runner-up is {duel.other.name}; they cannot be told apart: {test.reason}."
    return f"The runner-up is {duel.other.name}: {_difference_and_p(duel, board)}."


def _what_settles(board: Leaderboard) -> str:
    told = [(METHODS[d.other.method].title, d.test.difference) for d in board.duels if settled(d.p)]
    behind = [title for title, difference in told if difference > 0]
    ahead = [title for title, difference in told if difference < 0]
    what = "AUC" if board.fpr_range is None else "pAUC of the range"
    if not board.duels:
        return "No other method was judged beside it, so nothing settles that it is the best."
    if ahead:
        return f"On the held-out rows {listed(ahead)} has the higher {what} ({_TESTED})."
    if not behind:
        return f"Nothing is settled: the {what} does not tell it from any other ({_TESTED})."
    return f"The {what} settles that it is ahead of {listed(behind)} ({_TESTED})."


def _simpler(duel: Duel) -> str:
    test = duel.test
    if np.isfinite(test.low):
        told = f"is within chance (difference {_difference(test)}, p = {test.p:.2g} by itself)"
    else:
        told = f"cannot be told apart from it: {test.reason}"
    return f"{duel.other.name} is simpler and {told}: prefer it?"


def remarks(board: Leaderboard) -> Iterator[str]:
    """Say what was not done, and what the figures are worth."""
    if board.not_begun:
        why = "it was stopped" if board.ended == "stopped" else "the time was over"
        count = len(board.not_begun)
        shown = ", ".join(board.not_begun[:3]) + (", …" if count > 3 else "")
        yield f"{count} {'was' if count == 1 else 'were'} not begun because {why}: {shown}"
    for sentence in board.failed:
        yield f"left out: {sentence}"
    if board.best is not None and board.best.method == COMBINATION:
        yield "the combination consists of the models of the folds, so nothing was trained twice"
    yield from board.notes
    if board.best is not None and board.best.record is not None:
        yield from cautions(board.best.record)


def best_document(board: Leaderboard, table: Table, model: str | None = None) -> dict[str, Any]:
    """Give what ``best --json`` prints."""
    records = [entry.record for entry in board.entries if entry.record is not None]
    duels = {id(duel.other): duel for duel in board.duels}
    document = {
        **result_document(table, records, board.band),
        "fpr_range": None if board.fpr_range is None else list(board.fpr_range),
        "criterion": dataclasses.asdict(board.criterion),
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
        "held_out": number(entry.outer),
        "optimism": number(entry.optimism),
        "seconds": entry.seconds,
        "behind": None
        if duel is None
        else {
            "difference": duel.test.difference,
            "low": number(duel.test.low),
            "high": number(duel.test.high),
            "p": number(duel.p),
            "settled": settled(duel.p),
            "reason": duel.test.reason,
        },
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
        "model": model,
    }
