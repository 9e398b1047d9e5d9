"""Texts of the page Best."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from aucstudio.engine import METHODS
from aucstudio.engine.crossfit.members import read_list
from aucstudio.engine.inference import is_significant
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.widgets import unbroken
from aucstudio.notices.words import (
    as_sentence,
    counted,
    elapsed_words,
    figure_words,
    p_words,
    range_words,
    seconds_words,
)
from aucstudio.project.data.splitting.validation import FILE
from aucstudio.project.runs.experiments.settings_shown import chosen_settings
from aucstudio.project.tournament.standings import (
    COMBINATION,
    DONE,
    FAILED,
    JUDGED,
    LEFT,
    READY,
    RUNNING,
    STOPPED,
    TIME,
    TRAINS,
    WAITS,
    Estimate,
    RowCounts,
    Standing,
    Standings,
    Verdict,
    alike,
)

HEADS = (
    "Method",
    "Settings",
    "Cross-validated",
    "Held out",
    "Held out",
    "Optimism",
    "Time",
    "State",
)
AREA_COLUMN, OPTIMISM_COLUMN, TIME_COLUMN = 4, 5, 6
TIPS = {
    1: "The settings with the highest criterion so far, where they are not the default",
    2: "Cross-validated ranking criterion on the training rows, with a 95 % interval. Settings "
    "and weights were chosen without the rows that are scored",
    3: (
        "Ranking criterion on held-out rows that were not used for any selection, with a 95 % "
        "interval"
    ),
    4: ("Partial AUC of the range, on held-out rows that no choice has used, with a 95 % interval"),
    5: "Cross-validated minus held out",
    6: "Time of all fits of the method",
}
_ENDS = {
    DONE: "Search finished",
    TIME: "Time limit reached",
    STOPPED: "Stopped",
    FAILED: "Failed",
}


def heads(standings: Standings) -> tuple[str, ...]:
    """Return the heads of the columns, which name the criterion and the range."""
    named = list(HEADS)
    criterion = short_measure(standings)
    named[2:4] = [f"{head}\n{criterion}" for head in HEADS[2:4]]
    if standings.fpr_range is not None:
        named[AREA_COLUMN] = f"Held-out pAUC {range_words(standings.fpr_range)}"
    return tuple(named)


def short_measure(standings: Standings) -> str:
    """Name the ranking criterion in the head of a column."""
    share = round(100 * standings.share)
    if standings.fpr_range is None or share == 0:
        return "AUC"
    return "pAUC" if share == 100 else f"{share} % pAUC\n+ {100 - share} % AUC"


def title(entry: Standing) -> str:
    """Name the method of an entry."""
    return METHODS[entry.method].title


def settings(entry: Standing) -> str:
    """Return the settings that are not the default; of a combination, the number of models."""
    if entry.method == COMBINATION:
        count = len(read_list(entry.params["library"])) if entry.params else 0
        return f"of {count} models" if count else ""
    return chosen_settings(entry.method, entry.params, alike(entry.method))


def typeset(text: str) -> str:
    """Write minus signs, and keep a figure and its unit on one line."""
    minus = re.sub(r"(?<![\w-])-(?=\d)", "−", text)
    return unbroken(minus.replace(" … ", "\N{NO-BREAK SPACE}…\N{NO-BREAK SPACE}"))


def measure_words(standings: Standings) -> str:
    """Name the ranking criterion."""
    if standings.fpr_range is None:
        return "AUC"
    part = f"pAUC in FPR {range_words(standings.fpr_range)}"
    weight = f"{100 * standings.share:.0f}"
    if weight in ("0", "100"):  # nothing is known of the rows yet
        return part
    return f"{part} ({weight} %) and AUC ({100 - int(weight)} %)"


def counts_words(standings: Standings) -> str:
    """Name the ranking criterion, and explain it."""
    few = " Few rows lie in the range, so the AUC counts too." if standings.share < 0.8 else ""
    why = few if standings.fpr_range is not None and standings.share else ""
    return f"Ranking criterion: {measure_words(standings)}.{why}"


def estimate_words(found: Estimate | None) -> str:
    """Write a figure with its interval."""
    if found is None:
        return "–"
    if found.low is None or found.high is None:
        return figure_words(found.value)
    return f"{figure_words(found.value)} ({found.low:.2f}–{found.high:.2f})"


def cells(entry: Standing, standings: Standings, intervals: int = 2) -> tuple[str, ...]:
    """Write the line of an entry, as HEADS names its cells; the held-out interval goes last."""
    inner, held_out, area = entry.inner, entry.held_out, entry.area
    if inner is not None and intervals < 2:
        inner = Estimate(inner.value)
    if intervals < 1:
        held_out = None if held_out is None else Estimate(held_out.value)
        area = None if area is None else Estimate(area.value)
    optimism = entry.optimism
    return (
        title(entry),
        settings(entry) or ("default" if entry.inner is not None else "–"),
        estimate_words(inner),
        estimate_words(held_out),
        estimate_words(area),
        "–" if optimism is None else figure_words(optimism, "+"),
        seconds_words(entry.seconds) if entry.seconds else "–",
        state(entry, standings),
    )


def state(entry: Standing, standings: Standings) -> str:
    """Describe the progress of an entry, or its distance from the best."""
    if standings.ended != RUNNING and entry.state in (READY, JUDGED):
        return _against_best(entry, standings) if entry.run else "not tested"
    if entry.state in (WAITS, READY) and entry.method == COMBINATION:
        return "comes last" if entry.state == WAITS else "ready"
    if entry.state == READY and entry.tried > 1:
        return f"ready, {entry.tried} tried"
    left = "not finished" if entry.tried else "not begun"
    return {WAITS: "waits", TRAINS: "in training", LEFT: left}.get(entry.state, entry.state)


def _against_best(entry: Standing, standings: Standings) -> str:
    if entry.run == standings.best:
        return "best"
    lead = entry.behind
    if lead is None or lead.p is None:
        return "not tested"
    if not is_significant(lead.p):
        return "not significant"
    return f"{'behind' if lead.difference > 0 else 'ahead'}, Holm-corrected {p_words(lead.p)}"


def rows_words(rows: RowCounts) -> str:
    """Count rows."""
    return f"{counted(rows.all, 'row')} ({counted(rows.positives, 'positive')})"


def doing_words(standings: Standings, *, stopping: bool) -> str:
    """Describe the current step and the elapsed time."""
    if stopping:
        return "stopping: testing the finished models; press Stop again to end at once"
    gone = elapsed_words(standings.spent)
    of = f" of {elapsed_words(standings.budget)}" if standings.budget else ""
    parts = [_readable(standings.doing) or "starting", f"{gone}{of}"]
    return " · ".join(parts)


def _readable(doing: str) -> str:
    """Replace method ids by titles, and drop settings."""
    words = [word for word in doing.split() if "=" not in word]
    return " ".join(METHODS[word].title if word in METHODS else word for word in words)


def statement(standings: Standings) -> Statement:
    """Describe the state or the result of a search."""
    if standings.ended == RUNNING:
        return _live_statement(standings)
    if standings.ended == FAILED:
        ready = sum(one.inner is not None for one in standings.entries)
        kept = f" The {ready} methods that were ready are listed." if ready else ""
        return Statement.of(f"Find the best failed: {standings.error}.{kept}", *standings.remarks)
    found = standings.verdict or Verdict("No method was tested on the held-out rows.")
    found = dataclasses.replace(found, best=_headline(standings) or found.best)
    first, *rest = map(typeset, found.sentences)
    ended = f"{_ENDS[standings.ended]}: {standings.fits:,} fits, {elapsed_words(standings.spent)}."
    left = tuple(map(as_sentence, standings.remarks))
    why = as_sentence(standings.error) if standings.error else ""
    tested = f"All were tested on the rows of {_file(standings)}, which no choice has used."
    judged = tested if _file(standings) else ""
    return Statement.of(first, judged, why, *rest, ended, *left)


def _file(standings: Standings) -> str:
    """Return the name of the test file used for the final test; empty without one."""
    validation = standings.validation
    return Path(validation.test_file).name if validation.scheme == FILE else ""


def _headline(standings: Standings) -> str:
    """Name the best model and the simpler alternative."""
    best, simpler = standings.of_run(standings.best), standings.of_run(standings.simpler)
    if best is None:
        return ""
    first = standings.entries[0]
    if not first.run and first.inner is not None:
        return (
            f"{title(best)} is the best model tested on the held-out rows; {title(first)}, "
            "which was chosen, was not tested."
        )
    if simpler is None:
        return f"{title(best)} is the best model found."
    return f"{title(best)} is the best model found; {title(simpler)} is simpler and almost as good."


def _live_statement(standings: Standings) -> Statement:
    known = [one for one in standings.entries if one.inner is not None]
    if not known:
        return Statement("The first methods are being trained.")
    best = known[0]
    assert best.inner is not None
    where = f" of {_file(standings)}" if _file(standings) else ""
    return Statement.of(
        f"{title(best)} leads with {estimate_words(best.inner)}, cross-validated.",
        counts_words(standings),
        (
            f"{rows_words(standings.held)}{where} are held out for the final test; no choice "
            "uses them."
        ),
    )
