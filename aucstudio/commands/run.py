"""``aucstudio run``: the runs of an experiment file."""

from __future__ import annotations

import argparse
import functools

from aucstudio.commands.outcomes import carry_out, ended, with_unsaved
from aucstudio.commands.table_options import add_stream_options, choose_reader
from aucstudio.commands.values import add_cluster_option, add_json, positive_int
from aucstudio.console import say, say_json


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("experiment", metavar="EXPERIMENT.toml", help="an experiment file")
    parser.add_argument("--project", metavar="FILE", help="add the runs to a project (*.aucproj)")
    where = parser.add_mutually_exclusive_group()
    add_cluster_option(where)
    where.add_argument(
        "--jobs", metavar="N", type=positive_int, default=1, help="runs at once, in processes"
    )
    add_stream_options(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    from aucstudio.project.results.documents import result_document, results_table
    from aucstudio.project.runs.experiments.experiment_file import read_study

    study = read_study(options.experiment, functools.partial(choose_reader, options))
    band = study.experiments[0].band
    outcomes = carry_out(study.plans(), options, "run")
    records = [outcome.record for outcome in outcomes]
    if options.json:
        say_json(with_unsaved(result_document(study.table, records, band), outcomes))
    elif any(record.splits for record in records):
        say(results_table([r for r in records if r.splits], band))
    return ended(outcomes, len(study.experiments))
