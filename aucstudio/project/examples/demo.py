"""Run an example study without a window."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from aucstudio.project.examples.studies import STUDIES, make_study
from aucstudio.project.runs.experiments.experiment_file import ExperimentFile, read_study
from aucstudio.project.store.project.project_file import keep_first_reading
from aucstudio.project.work.submit import Bar, Outcome, open_place, run_experiments


@dataclasses.dataclass(frozen=True, eq=False)
class Demo:
    """A study that was run.

    Attributes
    ----------
    study : ExperimentFile
    project : Path
    outcomes : list of Outcome
    """

    study: ExperimentFile
    project: Path
    outcomes: list[Outcome]


def run_demo(
    folder: Path, key: str = STUDIES[0], bar: Bar = lambda _fraction, _words: None
) -> Demo:
    """Run an example study into a project in ``folder``; one left there before is replaced.

    Raises
    ------
    InputError
        If there is no such study, or the folder cannot be written.
    """
    study = read_study(make_study(key, folder))
    project = folder / f"{key} study.aucproj"
    project.unlink(missing_ok=True)
    with open_place() as place:
        outcomes = run_experiments(study.plans(), place, project, bar)
    keep_first_reading(project, study.table)
    return Demo(study, project, outcomes)
