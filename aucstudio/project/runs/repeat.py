"""The command that repeats a run."""

from __future__ import annotations

import shlex

from aucstudio.engine import METHODS
from aucstudio.engine.params import declared_params
from aucstudio.project.data.split import LEAVE_PAIR_OUT
from aucstudio.project.runs.experiment import Experiment


def command_line(experiment: Experiment) -> str:
    """Write the command that repeats an experiment."""
    known = declared_params(METHODS[experiment.method])
    data, validation = experiment.data, experiment.validation
    words = ["aucstudio", "train", data.path, "--method", experiment.method]
    for name, value in experiment.params.items():
        if known[name].matters(experiment.params) and value != known[name].default:
            words += ["--set", f"{name}={known[name].spell(value)}"]
    words += ["--label", data.label, "--positive", data.positive]
    for name, role in data.roles:
        if role == "ignore":
            words += ["--ignore", name]
    if validation.scheme == "folds":
        words += ["--folds", str(validation.folds)]
    elif validation.scheme == "file":
        words += ["--test-file", validation.test_file]
    elif validation.scheme == LEAVE_PAIR_OUT:
        words += ["--leave-pair-out"]
    else:
        words += ["--test-size", f"{validation.test_size:g}"]
    if experiment.tuning is not None:
        words += ["--tune", experiment.tuning.metric]
    words += ["--repeats", str(validation.repeats), "--seed", str(validation.seed)]
    words += ["--fpr-range", f"{experiment.band[0]:g},{experiment.band[1]:g}"]
    return shlex.join(words)
