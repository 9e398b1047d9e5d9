"""What the page Best says about a search and its entries."""

from __future__ import annotations

import re
from pathlib import Path

from aucstudio.engine import METHODS
from aucstudio.engine.crossfit.members import read_list
from aucstudio.gui.common.sentence import Statement
from aucstudio.gui.common.widgets import unbroken
from aucstudio.notices import text
from aucstudio.notices.words import as_sentence, counted, figure_words, interval_words
from aucstudio.project.data.validation import FILE
from aucstudio.project.runs.settings_shown import chosen_settings
from aucstudio.project.tournament.standings import (
    COMBINATION,
    FAILED,
    LEFT,
    RUNNING,
    STOPPED,
    TIME,
    UNABLE,
    CriterionEstimate,
    RowCounts,
    Standing,
    Standings,
    Verdict,
    alike,
    measure_words,
)

_FEW = 0.8  # share of the partial AUC in the criterion
_MOST_MEMBERS = 6


def title(entry: Standing) -> str:
    """Name the method of an entry."""
    return METHODS[entry.method].title


def settings(entry: Standing) -> str:
    """Return the settings that are not the default; of a combination, the number of models."""
    if entry.method == COMBINATION:
        count = len(read_list(entry.params["library"])) if entry.params else 0
        return f"of {count} models" if count else ""
    return chosen_settings(entry.method, entry.params, alike(entry.method))


def typeset(words: str) -> str:
    """Write minus signs, and keep a figure and its unit on one line."""
    minus = re.sub(r"(?<![\w-])-(?=\d)", "−", words)
    return unbroken(minus.replace(" … ", "\N{NO-BREAK SPACE}…\N{NO-BREAK SPACE}"))


def short_measure(standings: Standings) -> str:
    """Name the ranking criterion in the head of a column."""
    share = 0 if standings.fpr_range is None else round(100 * standings.share)
    if not share:
        return "AUC"
    return f"{share} % pAUC\n+ {100 - share} % AUC" if share < 100 else "pAUC"


def counts_words(standings: Standings) -> str:
    """Name the ranking criterion, and explain it."""
    few = standings.fpr_range is not None and 0 < standings.share < _FEW
    return text(
        "best_criterion", measure=measure_words(standings.fpr_range, standings.share), few=few
    )


def estimate_words(found: CriterionEstimate | None, *, intervals: bool = True) -> str:
    """Write a figure with its interval."""
    if found is None:
        return "–"
    if found.low is None or found.high is None or not intervals:
        return figure_words(found.value)
    return f"{figure_words(found.value)} ({found.low:.2f}–{found.high:.2f})"


def why_untested(entry: Standing) -> str:
    """Return why an entry has failed, was left, or was not tested; empty where it was."""
    lead, why = entry.behind, entry.why
    if entry.run and lead is not None and lead.p is None:
        return text("best_entry_untested", why=lead.reason)
    return text("best_entry_not_held_out", why=why) if why and entry.inner is not None else why


def rows_words(rows: RowCounts) -> str:
    """Count rows."""
    return f"{counted(rows.all, 'row')} ({counted(rows.positives, 'positive')})"


def doing_words(standings: Standings, *, stopping: bool) -> str:
    """Describe the current step, and the elapsed and the remaining time."""
    # Titles stand in place of the ids of methods, and settings are left out.
    words = [word for word in standings.doing.split() if "=" not in word]
    doing = " ".join(METHODS[word].title if word in METHODS else word for word in words)
    if stopping:
        return text("best_stopping")
    if not doing:
        return text("best_starting")
    return text("best_doing", doing=doing, spent=standings.spent, left=standings.left)


def members_words(standings: Standings) -> str:
    """State the rows and the members behind the result."""
    shares = [one for one in standings.members if one.weight >= 0.005]
    named = [f"{one.title}: {100 * one.weight:.0f} %" for one in shares[:_MOST_MEMBERS]]
    more = len(shares) - len(named)
    rows = text(
        "best_rows",
        train=rows_words(standings.train),
        folds=standings.folds,
        held=rows_words(standings.held),
        measure=measure_words(standings.fpr_range, standings.share),
    )
    weights = "; ".join([*named, f"{more} more"] if more > 0 else named)
    return f"{rows} {text('best_weights', weights=weights)}" if named else rows


def statement(standings: Standings, higher: tuple[str, float] | None = None) -> Statement:
    """Describe the state or the result of a search.

    ``higher`` names a listed run that is above the best one on the same rows, with its figure.
    """
    file, ended = _file(standings), standings.ended
    known = [one for one in standings.entries if one.inner is not None]
    if ended == RUNNING and not known:
        return Statement(text("best_begins" if standings.entries else "best_prepares"))
    if ended == RUNNING:
        estimate, held = estimate_words(known[0].inner), rows_words(standings.held)
        head = text("best_leads", best=title(known[0]), estimate=estimate)
        more = text("best_held_rows", held=held, file=file)
        return Statement.of(head, counts_words(standings), more)
    remarks = map(as_sentence, standings.remarks)
    if ended == FAILED:
        head = text("best_failed", error=standings.error, ready=len(known) or None)
        return Statement.of(head, *remarks)
    found = standings.verdict or Verdict(text("best_none"))
    headline, why = _headline(standings) or found.best, why_lower(standings)[1]
    above = (
        ""
        if higher is None
        else text(
            "best_below_run",
            name=higher[0],
            value=higher[1],
            in_range=standings.fpr_range is not None,
        )
    )
    return Statement.of(
        typeset(" ".join(filter(None, (above, headline, _untried(standings))))),
        text("best_tested_file", file=file) if file else "",
        as_sentence(standings.error) if standings.error else "",
        *map(typeset, dict.fromkeys((found.choice, why, found.runner_up, found.settles))),
        typeset(members_words(standings)) if standings.best else "",
        found.refit,
        text(
            "best_end",
            ended=ended,
            fits=standings.fits,
            spent=standings.spent,
            budget=standings.budget,
        ),
        *remarks,
    )


def _file(standings: Standings) -> str:
    """Return the name of the test file used for the final test; empty without one."""
    validation = standings.validation
    return Path(validation.test_file).name if validation.scheme == FILE else ""


def _untried(standings: Standings) -> str:
    """Count the methods that were tried if some were not before the search had to end."""
    methods = [one for one in standings.entries if one.method != COMBINATION]
    left = sum(one.state == LEFT and not one.tried for one in methods)
    failed, ended = sum(one.state in (FAILED, UNABLE) for one in methods), standings.ended
    if not left or ended not in (TIME, STOPPED):
        return ""
    tried, counts = len(methods) - left - failed, {"left": left, "failed": failed or None}
    return text("best_untried", tried=tried, total=len(methods), ended=ended, **counts)


def _headline(standings: Standings) -> str:
    """Name the best model and the simpler alternative."""
    best, simpler = standings.of_run(standings.best), standings.of_run(standings.simpler)
    if best is None:
        return ""
    first, point = standings.entries[0], standings.point
    if standings.fpr_range is not None and point is not None and point.tpr == 0:
        held, most = standings.held.positives, standings.fpr_range[1]
        return text("best_finds_none", best=title(best), positives=held, fpr=most)
    if not first.run and first.inner is not None:
        return text("best_untested_leader", best=title(best), first=title(first))
    found: dict[str, object] = {
        "best": title(best),
        "rule": why_lower(standings)[0],
        "in_range": standings.fpr_range is not None,
        "range": standings.fpr_range,
        "area": None if best.area is None else _area_words(best.area),
    }
    if simpler is None or simpler.behind is None:
        return text("best_found", **found, simpler=None, alike=_alike(standings) or None)
    if simpler.behind.difference > 0 or simpler.area is None:
        return text("best_found", **found, simpler=title(simpler), alike=None)
    own = _area_words(simpler.area)
    return text("best_is_simpler", **found, simpler=title(simpler), own=own)


def _alike(standings: Standings) -> int:
    """Count the entries that do not differ significantly from the best on the held-out rows."""
    leads = (one.behind for one in standings.entries if one.run != standings.best)
    return sum(
        lead is not None and lead.p is not None and not lead.is_significant for lead in leads
    )


def why_lower(standings: Standings) -> tuple[str, str]:
    """Explain why the best model is not the highest in its column: the rule, and a sentence."""
    best = standings.of_run(standings.best)
    if best is None or best.inner is None:
        return "", ""
    most = max(one.inner.value for one in standings.entries if one.inner is not None)
    if figure_words(most) == figure_words(best.inner.value):
        return "", ""
    if standings.ended == STOPPED:
        return "stopped", text("best_stopped")
    if best.method == COMBINATION:
        return "errors", "" if standings.verdict is None else standings.verdict.choice
    return "nested", text("best_nested", best=title(best), own=best.inner.value, most=most)


def _area_words(found: CriterionEstimate) -> str:
    """Write an area with its interval, as in the list of runs."""
    value = figure_words(found.value)
    if found.low is None or found.high is None:
        return value
    return f"{value} ({interval_words(found.low, found.high)})"
