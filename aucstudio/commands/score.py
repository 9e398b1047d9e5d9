"""``aucstudio score``: apply a saved model to a table."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING, Any

from aucstudio.commands.options import (
    choose_reader,
    read_acceptance,
    read_dialect,
    refuse,
    with_options,
)
from aucstudio.console import DONE, note, say_json
from aucstudio.project.errors import InputError

if TYPE_CHECKING:
    from aucstudio.project.runs.input_check import ScoringReport
    from aucstudio.project.runs.model import Model


_LISTS = {"score": "scores", "probability": "probabilities"}


def run(options: argparse.Namespace) -> int:
    """Score a table and say what was met in it; returns the exit status."""
    from aucstudio.project.data.preparing.acceptance import RefusedColumnsError
    from aucstudio.project.store.files import refuse_own_input
    from aucstudio.project.store.model_file import load_model

    refuse_own_input(options.output, options.model, options.data)
    model = load_model(options.model)
    options.id = options.id or model.schema.identifiers
    how = {
        "identifiers": options.id,
        "label": options.label,
        **read_acceptance(options),
        "dialect": read_dialect(options),
        "read": choose_reader(options, options.data, [None]),
    }
    try:
        report, collected = _scored(options, model, how)
    except RefusedColumnsError as error:
        raise InputError(with_options(error)) from error
    for sentence in report.sentences():
        note(sentence)
    if model.calibration is not None:
        note(
            f"probabilities by {model.calibration.kind} calibration on {model.calibrated_on}; they "
            "hold where positives are as frequent"
        )
    if options.json:
        known = {
            "model": options.model,
            "method": model.method,
            "file": options.output,
            "threshold": model.threshold,
        }
        say_json({**report.as_json(), **known, **collected})
    return DONE


def _scored(
    options: argparse.Namespace, model: Model, how: dict[str, Any]
) -> tuple[ScoringReport, dict[str, Any]]:
    """Score into the file, the standard output, or into lists for the JSON document."""
    from aucstudio.project.data.table import read_table
    from aucstudio.project.store.scores_file import Block, score_into, scores_sink

    if options.output is not None or not options.json:
        shape = options.id, model.calibration is not None, options.as_input
        with scores_sink(options.output, *shape) as sink:
            return score_into([sink], model, options.data, **how), {}
    why = "the scores of an out-of-memory table do not go into JSON: give -o FILE"
    refuse(how["read"] is not read_table, why, "output")
    collected: dict[str, Any] = {"row": [], "scores": [], "predicted": []}
    named: dict[str, list[Any]] = {name: [] for name in options.id}

    def collect(block: Block) -> None:
        for name, cells in block.identifiers.items():
            named[name].extend(cells.tolist())
        for name, cells in dataclasses.replace(block, identifiers={}).columns():
            if name != "threshold":
                collected.setdefault(_LISTS.get(name, name), []).extend(cells.tolist())

    report = score_into([collect], model, options.data, **how)
    one = next(iter(named.values())) if len(named) == 1 else None
    collected |= {"id": one} if one is not None else {"ids": named} if named else {}
    return report, collected
