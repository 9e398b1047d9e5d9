"""``aucstudio run``: run an experiment file."""

from __future__ import annotations

import argparse
import functools

from aucstudio.commands.options import CLUSTER, JSON, STREAM, add, whole
from aucstudio.commands.outcomes import carry_out, ended, show
from aucstudio.commands.table_options import choose_reader


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add(parser, {"experiment EXPERIMENT.toml": "an experiment file"})
    add(parser, {"--project FILE": "add the runs to a project (*.aucproj)"})
    where = parser.add_mutually_exclusive_group()
    add(where, CLUSTER)
    add(
        where,
        {"--jobs N": "processes that train runs at once (default 1)"},
        type=whole(1),
        default=1,
    )
    add(parser, {**STREAM, **JSON})


def run(options: argparse.Namespace) -> int:
    """Run the experiments of a file; returns the exit status."""
    from aucstudio.project.runs.experiments.experiment_file import read_study

    study = read_study(options.experiment, functools.partial(choose_reader, options))
    outcomes = carry_out(study.plans(), options, "run")
    show(options, study.table, outcomes, study.experiments[0].band)
    return ended(outcomes, len(study.experiments))
