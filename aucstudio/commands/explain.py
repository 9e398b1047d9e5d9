"""``aucstudio explain``: show the contribution of each column to the score of a row."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aucstudio.commands.options import (
    read_acceptance,
    read_dialect,
    refuse,
    with_options,
)
from aucstudio.console import DONE, note, progress, say, say_json
from aucstudio.notices import texts
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.work import signals

if TYPE_CHECKING:
    from aucstudio.project.data.table import Table
    from aucstudio.project.explain.contributions import RowDetail
    from aucstudio.project.runs.model import Model

_MOST_LINES = 20


def run(options: argparse.Namespace) -> int:
    """Explain one row of a table; return the exit status."""
    from aucstudio.engine.monitor import Stopped
    from aucstudio.project.store.files import refuse_own_input
    from aucstudio.project.store.model_file import load_model

    refuse_own_input(options.output, options.model, options.data, options.background)
    refuse(options.seed < 0, f"seed must be at least 0; it is {options.seed}", "seed")
    model = load_model(options.model)
    table = _read(model, options.data, options)
    row = _place(table, options.row)
    others = table if options.background is None else _read(model, options.background, options)
    compared = options.background or options.data
    if model.schema.sha256 not in ("", others.sha256):
        note(
            f"the model was not trained on {compared}, whose rows the row is compared with: "
            "--background FILE names another table"
        )
    with signals.noted() as interrupted:
        try:
            detail = _explained(model, table, row, others, options.seed, interrupted)
        except Stopped:
            return signals.exit_status()
        was_stopped = interrupted()
    _print(detail, others, compared, options)
    return signals.exit_status() if was_stopped else DONE


def _explained(
    model: Model,
    table: Table,
    row: int,
    others: Table,
    seed: int,
    interrupted: Callable[[], bool],
) -> RowDetail:
    from aucstudio.project.explain.contributions import explain_row

    bar = progress("explain")

    def listen(share: float, _sofar: RowDetail | None) -> bool:
        bar(min(share, 0.99), "")
        return interrupted()

    rows, weights = np.arange(others.rows), _weights(others)
    detail = explain_row(
        table, model, row, rows, against=others, weights=weights, seed=seed, listen=listen
    )
    bar(1.0, "")
    return detail


def _weights(table: Table) -> NDArray[np.float64] | None:
    """Return what the rows weigh, labelled or not; None where each counts once, or none does."""
    from aucstudio.project.data.weights import usable_weights

    if table.weight is None:
        return None
    column = table.column(table.weight)
    weights = usable_weights(table.path, column, column.measured(), table.file_rows)
    return weights if weights.any() else None


def _print(detail: RowDetail, others: Table, compared: str, options: argparse.Namespace) -> None:
    from aucstudio.project.explain.contributions import (
        CSV_HEAD,
        about,
        as_lines,
        as_table,
        score_headline,
    )
    from aucstudio.project.store.scores_file import scores_file, write_csv

    if options.output:
        with scores_file(options.output) as file:
            write_csv(file, [CSV_HEAD, *as_lines(detail)])
    if options.json:
        document = {"model": options.model, "file": options.data, "compared_with": compared}
        say_json({**document, **detail.as_json(), "row": options.row, "output": options.output})
        return
    say(score_headline(detail, options.row, f"the rows of {others.path.name}"))
    say(f"\n{as_table(detail, _MOST_LINES)}\n")
    say("\n".join(texts(about(detail))))


def _read(model: Model, path: str, options: argparse.Namespace) -> Table:
    from aucstudio.project.data.preparing.acceptance import RefusedColumnsError
    from aucstudio.project.data.table import Table
    from aucstudio.project.runs.input_check import check_table, with_allowed_columns
    from aucstudio.project.runs.scoring import read_to_score

    accepted = read_acceptance(options)
    table = read_to_score(
        model,
        path,
        dialect=read_dialect(options),
        written=accepted["written"],
        scale=accepted["scale"],
    )
    assert isinstance(table, Table)
    table = with_allowed_columns(model, table, accepted["allowed"])
    try:
        check_table(model, table, allowed=accepted["allowed"])
    except RefusedColumnsError as error:
        raise InputError(with_options(error)) from error
    return table


def _place(table: Table, number: int) -> int:
    """Find a data row of the file, counted from 1; rows that were left out count."""
    found = np.flatnonzero(table.file_rows == number)
    if not len(found):
        last = int(table.file_rows[-1]) if table.rows else 0
        known = f"its rows are 1 to {last:,}" if number > last else "it could not be read"
        raise input_error(
            "no_such_row", file=table.path, name=table.path.name, number=number, known=known
        )
    return int(found[0])
