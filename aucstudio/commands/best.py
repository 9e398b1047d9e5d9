"""``aucstudio best``: find the best model of a table."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from aucstudio.commands.options import read_band, read_said
from aucstudio.commands.outcomes import check_model_name, save_made_model
from aucstudio.console import BAD_INPUT, DONE, RUN_FAILED, complain, note, progress, say, say_json
from aucstudio.project.errors import InputError
from aucstudio.project.work import signals

if TYPE_CHECKING:
    from aucstudio.project.store.project.project_file import ProjectFile
    from aucstudio.project.tournament.standings import Standings
    from aucstudio.project.tournament.verdict import SearchResult


def run(options: argparse.Namespace) -> int:
    """Find the best model for a table; return the exit status."""
    from aucstudio.project.data.table import read_table
    from aucstudio.project.data.validation import FILE, Validation
    from aucstudio.project.results.documents import data_sentence
    from aucstudio.project.store.project.project_file import keep_first_reading, open_or_create
    from aucstudio.project.tournament.candidate_comparison import Budget
    from aucstudio.project.tournament.search import SearchRequest, find_best
    from aucstudio.project.tournament.verdict import (
        best_document,
        leaderboard_text,
        search_remarks,
        verdict,
    )

    check_model_name(options, options.data)
    band = None if options.fpr_range is None else read_band(options.fpr_range)
    how = {"test_size": options.test_size}
    if options.test_file is not None:
        how = {"scheme": FILE, "test_file": options.test_file}
    validation = Validation(seed=options.seed, **how)
    table = read_table(options.data, **read_said(options))
    project = None if options.project is None else open_or_create(options.project)
    earlier = [] if project is None else [*_earlier(project)]
    bar = progress("best")
    last: list[Standings] = []

    def watch(standings: Standings) -> None:
        last[:] = [standings]
        bar(standings.fraction, standings.doing)

    with signals.noted() as interrupted:
        result = find_best(
            SearchRequest(table, validation, band, folds=options.folds, earlier=earlier),
            budget=Budget(60.0 * options.minutes, interrupted),
            store=lambda record: record if project is None else project.add_run(record),
            watch=watch,
        )
        was_stopped = interrupted()
    bar(1.0, "")
    if project is not None:
        keep_first_reading(project.path, table)
        result.unsaved = result.unsaved or _keep(project, last[-1])
    trouble = _save_model(result, options.save_model)
    model = None if trouble or result.best is None else options.save_model
    if options.json:
        say_json(best_document(result, table, model))
    else:
        words = "\n".join(verdict(result).sentences)
        say(f"{data_sentence(table)}\n\n{leaderboard_text(result)}\n\n{words}")
        for sentence in search_remarks(result):
            note(sentence)
    for sentence in filter(None, (result.unsaved, trouble)):
        complain(sentence)
    if result.unsaved or trouble:
        return BAD_INPUT
    if was_stopped:
        return signals.exit_status()
    return RUN_FAILED if result.best is None else DONE


def _earlier(store: ProjectFile) -> Iterator[Standings]:
    """Read the searches that a project holds; damaged ones are left out."""
    from aucstudio.project.tournament.standings import Standings

    for document in store.read().standings.values():
        with contextlib.suppress(ValueError):
            yield Standings.from_json(document)


def _keep(store: ProjectFile, standings: Standings) -> str:
    """Store the result for the page Best; return why it could not be stored."""
    try:
        store.keep_standings(standings.key, standings.as_json())
    except InputError as error:
        return str(error)
    return ""


def _save_model(result: SearchResult, path: str | None) -> str:
    """Save the best model, with its threshold at the end of the range.

    The model that was refit on all rows; without one, the model that was tested on the held-out
    rows. Returns why it could not be saved.
    """
    from aucstudio.project.runs.final_model import validated_model

    record = result.record
    if path is None or record is None:
        return ""
    return save_made_model(path, lambda _: result.model or validated_model(record, 0, result.rule))
