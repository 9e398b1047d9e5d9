"""The command ``best``: a tournament within the training rows, and its verdict."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from aucstudio.arguments import read_band, read_dialect, read_label, read_roles
from aucstudio.boundary import BAD_INPUT, DONE, RUN_FAILED
from aucstudio.console import complain, note, progress, say, say_json
from aucstudio.project.work import signals

if TYPE_CHECKING:
    from aucstudio.project.tournament.leaderboard import Leaderboard


def best(options: argparse.Namespace) -> int:
    """Find the best model for a table; gives the exit status."""
    from aucstudio.project.data.split import Validation
    from aucstudio.project.data.table import read_table
    from aucstudio.project.results.documents import data_sentence
    from aucstudio.project.store.project.project_file import open_or_create
    from aucstudio.project.tournament.budget import Budget
    from aucstudio.project.tournament.find import find_best
    from aucstudio.project.tournament.verdict import (
        best_document,
        remarks,
        sentences,
        table_text,
    )

    band = None if options.fpr_range is None else read_band(options.fpr_range)
    validation = Validation(test_size=options.test_size, seed=options.seed)
    table = read_table(
        options.data,
        **read_label(options),
        roles=read_roles(options),
        dialect=read_dialect(options),
    )
    store = None if options.project is None else open_or_create(options.project)
    bar = progress("best")
    with signals.noted() as interrupted:
        board = find_best(
            table,
            validation,
            band,
            folds=options.folds,
            budget=Budget(60.0 * options.minutes, interrupted),
            tell=lambda words, share: None if bar is None else bar(share, words),
            store=store,
        )
        was_stopped = interrupted()
    if bar is not None:
        bar(1.0, "")
    trouble = _save_model(board, options.save_model)
    model = None if trouble or board.best is None else options.save_model
    if options.json:
        say_json(best_document(board, table, model))
    else:
        say(f"{data_sentence(table)}\n\n{table_text(board)}\n\n" + "\n".join(sentences(board)))
        for sentence in remarks(board):
            note(sentence)
    for sentence in filter(None, (board.unsaved, trouble)):
        complain(sentence)
    if board.unsaved or trouble:
        return BAD_INPUT
    if was_stopped:
        return signals.exit_status()
    return RUN_FAILED if board.best is None else DONE


def _save_model(board: Leaderboard, path: str | None) -> str:
    """Save the best model, with its threshold at the end of the range; gives why it could not be.

    It is the very model that was judged on the held-out rows.
    """
    from aucstudio.project.runs.execute import failure_sentence
    from aucstudio.project.runs.take_model import validated_model
    from aucstudio.project.store.model_file import save_model
    from aucstudio.project.tournament.verdict import threshold_rule

    found = board.best
    if path is None or found is None or found.record is None:
        return ""
    try:
        save_model(validated_model(found.record, 0, threshold_rule(board)), path)
    except Exception as error:  # noqa: BLE001  (whatever it is, the result is printed)
        return failure_sentence(error)
    return ""
