"""What the page Best says of a tournament and its entries."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

from aucstudio.engine import METHODS
from aucstudio.engine.inference import settled
from aucstudio.engine.methods.combination._library import read_list
from aucstudio.gui.common.statement import Statement
from aucstudio.gui.common.widgets import unbroken
from aucstudio.project.data.splitting.validation import FILE
from aucstudio.project.runs.experiments.settings_shown import chosen_settings
from aucstudio.project.tournament.leaderboard import COMBINATION
from aucstudio.project.tournament.standings import (
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
)
from aucstudio.project.words import (
    as_sentence,
    counted,
    elapsed_words,
    figure_words,
    p_words,
    range_words,
    seconds_words,
)

HEADS = ("Method", "Settings", "Cross-validated", "Held out", "Optimism", "Time", "State")
TIPS = {
    1: "The settings that did best so far, where they are not the usual ones",
    2: "What counts, on rows of the training part held out in folds, with an interval of 95 %. "
    "Choices were made by it, so the highest is too good an estimate",
    3: "The same on rows that no choice has seen, with an interval of 95 %: the honest estimate",
    4: "Cross-validated minus held out: how much better it looked where it was chosen",
    5: "What all fits of the method took",
}
_HIDDEN = ("library", "n_folds", "random_state", "fpr_range")
_ENDS = {
    DONE: "All that was to be tried was tried",
    TIME: "The time was over",
    STOPPED: "It was stopped",
    FAILED: "It failed",
}


def title(entry: Standing) -> str:
    """Name the method of an entry."""
    return METHODS[entry.method].title


def settings(entry: Standing) -> str:
    """Say what is not as usual; of a combination, how many may take part."""
    if entry.method == COMBINATION:
        count = len(read_list(entry.params["library"])) if entry.params else 0
        return f"of {count} models" if count else ""
    return chosen_settings(entry.method, entry.params, _HIDDEN)


def typeset(text: str) -> str:
    """Write minus signs as such, and keep figures on the line of what belongs to them."""
    minus = re.sub(r"(?<![\w-])-(?=\d)", "−", text)
    return unbroken(minus.replace(" … ", "\N{NO-BREAK SPACE}…\N{NO-BREAK SPACE}"))


def measure_words(standings: Standings) -> str:
    """Name what counts."""
    if standings.fpr_range is None:
        return "AUC"
    part = f"pAUC in FPR {range_words(standings.fpr_range)}"
    weight = f"{100 * standings.share:.0f}"
    if weight in ("0", "100"):  # nothing is known of the rows yet
        return part
    return f"{part} ({weight} %) and AUC ({100 - int(weight)} %)"


def counts_words(standings: Standings) -> str:
    """Say what counts, and why that."""
    few = " As few rows decide the range, the AUC counts too." if standings.share < 0.8 else ""
    why = few if standings.fpr_range is not None and standings.share else ""
    return f"What counts: {measure_words(standings)}.{why}"


def estimate_words(found: Estimate | None) -> str:
    """Write a figure with its interval."""
    if found is None:
        return "–"
    if found.low is None or found.high is None:
        return figure_words(found.value)
    return f"{figure_words(found.value)} ({found.low:.2f} … {found.high:.2f})"


def cells(entry: Standing, standings: Standings, intervals: int = 2) -> tuple[str, ...]:
    """Write the line of an entry, as HEADS names its cells; the held-out interval goes last."""
    inner, held_out = entry.inner, entry.held_out
    if inner is not None and intervals < 2:
        inner = Estimate(inner.value)
    if held_out is not None and intervals < 1:
        held_out = Estimate(held_out.value)
    optimism = entry.optimism
    return (
        title(entry),
        settings(entry) or ("usual" if entry.inner is not None else "–"),
        estimate_words(inner),
        estimate_words(held_out),
        "–" if optimism is None else figure_words(optimism, "+"),
        seconds_words(entry.seconds) if entry.seconds else "–",
        state(entry, standings),
    )


def state(entry: Standing, standings: Standings) -> str:
    """Say how far an entry is, or how it stands against the best."""
    if standings.ended != RUNNING and entry.state in (READY, JUDGED):
        return _against_best(entry, standings) if entry.run else "not judged"
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
    if not settled(lead.p):
        return "within chance"
    return f"{'behind' if lead.difference > 0 else 'ahead'}, {p_words(lead.p)}"


def rows_words(rows: RowCounts) -> str:
    """Count rows."""
    return f"{counted(rows.all, 'row')} ({counted(rows.positives, 'positive')})"


def doing_words(standings: Standings, *, stopping: bool) -> str:
    """Say what is being done, and how much of the time is gone."""
    if stopping:
        return "stopping: what is ready is judged; Stop again ends at once"
    gone = elapsed_words(standings.spent)
    of = f" of {elapsed_words(standings.budget)}" if standings.budget else ""
    parts = [_readable(standings.doing) or "starting", f"{gone}{of}"]
    return " · ".join(parts)


def _readable(doing: str) -> str:
    """Give methods their titles, and leave out their settings."""
    words = [word for word in doing.split() if "=" not in word]
    return " ".join(METHODS[word].title if word in METHODS else word for word in words)


def statement(standings: Standings) -> Statement:
    """Say how a tournament stands, or what came of it."""
    if standings.ended == RUNNING:
        return _live_statement(standings)
    if standings.ended == FAILED:
        ready = sum(one.inner is not None for one in standings.entries)
        kept = f" {ready} methods were ready, and are listed." if ready else ""
        return Statement.of(f"Find the best failed: {standings.error}.{kept}", *standings.remarks)
    found = standings.verdict or Verdict("No method was judged on the held-out rows.")
    found = dataclasses.replace(found, best=_headline(standings) or found.best)
    first, *rest = map(typeset, found.sentences)
    ended = f"{_ENDS[standings.ended]}: {standings.fits:,} fits, {elapsed_words(standings.spent)}."
    left = tuple(map(as_sentence, standings.remarks))
    why = as_sentence(standings.error) if standings.error else ""
    tested = f"All were judged on the rows of {_file(standings)}, which no choice has seen."
    judged = tested if _file(standings) else ""
    return Statement.of(first, judged, why, *rest, ended, *left)


def _file(standings: Standings) -> str:
    """Name the test file that the end is judged on; empty where there is none."""
    validation = standings.validation
    return Path(validation.test_file).name if validation.scheme == FILE else ""


def _headline(standings: Standings) -> str:
    """Name the best, and what would do as well; the panel has the figures."""
    best, simpler = standings.of_run(standings.best), standings.of_run(standings.simpler)
    if best is None:
        return ""
    first = standings.entries[0]
    if first.inner is not None and best.inner is not None and first.inner.value > best.inner.value:
        return (
            f"{title(best)} is the best that was judged; {title(first)}, which led when "
            "cross-validated, was not."
        )
    if simpler is None:
        return f"{title(best)} is the best that was found."
    return (
        f"{title(best)} is the best that was found; {title(simpler)}, which is simpler, is within "
        "chance of it."
    )


def _live_statement(standings: Standings) -> Statement:
    known = [one for one in standings.entries if one.inner is not None]
    if not known:
        return Statement("The first methods are trained; the leaderboard fills as they are ready.")
    best = known[0]
    assert best.inner is not None
    where = f" of {_file(standings)}" if _file(standings) else ""
    return Statement.of(
        f"{title(best)} leads with {estimate_words(best.inner)}, cross-validated.",
        counts_words(standings),
        f"The leader is chosen by these figures, which makes its own too good: "
        f"{rows_words(standings.held)}{where} are held out for the end, and no choice sees them.",
    )
