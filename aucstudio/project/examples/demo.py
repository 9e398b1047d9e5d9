"""An example study from nothing to its project file, without a window."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from aucstudio.project.examples.studies import STUDIES, make_study
from aucstudio.project.runs.experiment_file import Study, read_study
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.work.batch import run_study
from aucstudio.project.work.in_turn import Bar


@dataclasses.dataclass(frozen=True, eq=False)
class Demo:
    """A study that was run.

    Attributes
    ----------
    study : Study
    project : Path
    records : list of RunRecord
    """

    study: Study
    project: Path
    records: list[RunRecord]


def run_demo(folder: Path, key: str = STUDIES[0], bar: Bar | None = None) -> Demo:
    """Run an example study into a project in ``folder``; one left there before is replaced.

    Raises
    ------
    InputError
        If there is no such study, or the folder cannot be written.
    """
    study = read_study(make_study(key, folder))
    project = folder / f"{key} study.aucproj"
    project.unlink(missing_ok=True)
    return Demo(study, project, run_study(study, str(project), 1, bar))
