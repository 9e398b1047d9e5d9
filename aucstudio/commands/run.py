"""``aucstudio run``: run an experiment file."""

from __future__ import annotations

import argparse
import functools

from aucstudio.commands.options import choose_reader
from aucstudio.commands.outcomes import carry_out, ended, show


def run(options: argparse.Namespace) -> int:
    """Run the experiments of a file; returns the exit status."""
    from aucstudio.project.runs.experiment_file import read_study

    study = read_study(options.experiment, functools.partial(choose_reader, options))
    outcomes = carry_out(study.plans, options, "run")
    show(options, study.table, outcomes, study.experiments[0].band)
    return ended(outcomes, len(study.experiments))
