"""The sample study: some methods at their defaults on the sample table, on the same rows."""

from __future__ import annotations

from pathlib import Path

from aucstudio.project import headless
from aucstudio.project.batch import shifted_bar
from aucstudio.project.files import cannot_write
from aucstudio.project.record import RunRecord
from aucstudio.project.samples import make_sample
from aucstudio.project.split import Validation
from aucstudio.project.tuning import Tuning
from aucstudio.project.workspace import home

SAMPLE = "payments"
PROJECT_NAME = "payments study.aucproj"
BAND = (0.0, 0.1)
SAMPLE_VALIDATION = Validation(test_size=0.5)
SAMPLE_METHODS = ("auc-rls", "auc-svm", "svm-pauc", "svm", "logistic", "gradient-boosting")
SAMPLE_TUNED = ("svm-pauc",)


def sample_study() -> Path:
    """Write the sample table into the program's own folder and give its path.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    return make_sample(SAMPLE, _folder(home() / "samples"))


def run_demo(folder: Path, bar: headless.Bar | None = None) -> list[RunRecord]:
    """Run the study into a project in ``folder``; a project left there before is replaced.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    path = make_sample(SAMPLE, _folder(folder))
    project = folder / PROJECT_NAME
    project.unlink(missing_ok=True)
    records = []
    for k, method in enumerate(SAMPLE_METHODS):
        plan = headless.plan_run(
            path,
            method,
            [],
            validation=SAMPLE_VALIDATION,
            band=BAND,
            tuning=Tuning() if method in SAMPLE_TUNED else None,
        )
        count = len(SAMPLE_METHODS)
        shifted = None if bar is None else shifted_bar(bar, k, count, plan.experiment)
        records.append(headless.run(plan, str(project), shifted))
    return records


def _folder(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error
    return path
