"""What repeats a run in a shell: an experiment file and the command that runs it."""

from __future__ import annotations

import shlex

from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.experiments.experiment_writing import write_study

_FILE = "experiment.toml"


def command_line(experiment: Experiment) -> str:
    """Return the shell commands that repeat an experiment to the same numbers."""
    if experiment.members:
        band = ",".join(repr(float(end)) for end in experiment.band)
        words = ["aucstudio", "combine", "PROJECT", *experiment.members, "--fpr-range", band]
        return (
            "# Combines finished runs, named here by their ids, of the project that holds them.\n"
            f"{shlex.join(words)}"
        )
    study = write_study([experiment], None)
    end = next(word for word in ("END", "END_OF_STUDY") if word not in study.splitlines())
    return f"cat > {_FILE} <<'{end}'\n{study}{end}\naucstudio run {_FILE}"
