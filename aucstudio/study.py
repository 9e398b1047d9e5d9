"""Projects in a notebook or script: runs as a table, curves, scores, models, new runs.

Everything here reads and writes the same project files as the window and the command line, with
the same functions, and none of it needs Qt::

    from aucstudio.study import open_study

    study = open_study("payments.aucproj")
    study.runs()["auc"]
    fpr, tpr, thresholds = study.curve("AUC-RLS")
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from aucstudio.notices.words import aligned
from aucstudio.project import scratch
from aucstudio.project.errors import InputError, input_error
from aucstudio.project.results.documents import find_run, named_runs, with_distinct_names
from aucstudio.project.results.report import write_model_card, write_report
from aucstudio.project.results.summary import ranking, run_as_json
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.experiment_file import read_study
from aucstudio.project.runs.experiment_keys import plan_runs
from aucstudio.project.runs.model import Model
from aucstudio.project.runs.planning import PlannedRun, planned_run
from aucstudio.project.runs.record import RunRecord, SplitResult
from aucstudio.project.runs.scoring import score_file
from aucstudio.project.store.model_file import save_model
from aucstudio.project.store.project.project_file import ProjectFile, open_or_create
from aucstudio.project.work.submit import open_place, run_experiments

__all__ = ["Curve", "Frame", "RunFailedError", "SavedModel", "Study", "open_study"]

_SHOWN = 20
_COLUMNS = (
    "id", "name", "method", "status", "auc", "auc_low", "auc_high", "pauc", "pauc_low",
    "pauc_high", "train_auc", "fit_seconds", "splits", "n_train", "n_test", "created", "params",
)  # fmt: skip


class RunFailedError(RuntimeError):
    """A run ended without a result; the message says why."""


class Curve(NamedTuple):
    """An empirical ROC curve, one vertex for each group of tied scores.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (n_vertices,)
        From (0, 0) to (1, 1).
    thresholds : ndarray of shape (n_vertices,)
        A vertex predicts positive where score >= threshold; the first is +inf.
    """

    fpr: NDArray[np.float64]
    tpr: NDArray[np.float64]
    thresholds: NDArray[np.float64]


class Frame(Sequence[dict[str, Any]]):
    """A small table: a sequence of rows that also returns its columns by name.

    ``frame["auc"]`` is a column as an array, ``frame[0]`` a row as a dict, and
    ``pandas.DataFrame(frame)`` and ``polars.DataFrame(list(frame))`` are data frames of it.

    Parameters
    ----------
    columns : mapping of str to sequence
        All of one length.
    """

    def __init__(self, columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
        self._columns = {name: _as_array(values) for name, values in columns.items()}

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._columns)

    @overload
    def __getitem__(self, key: str) -> NDArray[Any]: ...
    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> Frame: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._columns[key]
        if isinstance(key, slice):
            return Frame({name: values[key] for name, values in self._columns.items()})
        return {name: _plain(values[key]) for name, values in self._columns.items()}

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (self[row] for row in range(len(self)))

    def to_pandas(self) -> Any:
        """Return a ``pandas.DataFrame``; ImportError without pandas."""
        import pandas  # type: ignore[import-not-found,import-untyped,unused-ignore]

        return pandas.DataFrame(self._columns)

    def __repr__(self) -> str:
        head, _, *lines = aligned([self.columns, *self._texts()])
        return "\n".join([head, *lines, *self._rest()])

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        head, *body = (
            "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in row)
            for tag, row in [("th", self.columns), *(("td", row) for row in self._texts())]
        )
        rows = "".join(f"<tr>{row}</tr>" for row in body)
        rest = "".join(f"<p>{line}</p>" for line in self._rest())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{rest}"

    def _texts(self) -> list[tuple[str, ...]]:
        shown = self[:_SHOWN]
        return [tuple(_text(value) for value in row.values()) for row in shown]

    def _rest(self) -> list[str]:
        left = len(self) - _SHOWN
        return [f"… {left} more rows"] if left > 0 else []


class SavedModel:
    """The model of one split of a run, with its preprocessing.

    Attributes
    ----------
    columns : tuple of str
        The columns that it was trained on.
    classes : (str, str)
        Negative and positive class.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.columns = model.feature_columns
        self.classes = (model.negative, model.positive)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the score of each row, as the program's scores files have it.

        Parameters
        ----------
        X : data frame, mapping of str to column, array of shape (n_rows, n_columns), or path
            Columns go by their names; those of an array are taken in the order of ``columns``.
            A path is read as ``aucstudio score`` reads it.

        Returns
        -------
        ndarray of shape (n_rows,)
            Above 0 for rows that are predicted positive.

        Raises
        ------
        InputError
            If the columns do not fit the model.
        """
        scores: list[NDArray[np.float64]] = []
        with scratch.folder() as folder:
            path = _as_file(X, self.columns, folder / "rows.parquet")
            score_file(self._model, path, lambda _rows, _ids, found: scores.append(found))
        return np.concatenate([np.empty(0), *scores])

    def predict(self, X: Any) -> NDArray[np.str_]:
        """Return the predicted class of each row; ``X`` as for :meth:`decision_function`."""
        return self._model.predicted(self.decision_function(X))

    def save(self, path: str | Path) -> None:
        """Write the model as an ``*.aucmodel`` file."""
        save_model(self._model, path)


class Study:
    """A project file; opened by :func:`open_study`.

    Wherever a run is asked for, its id or its name in :meth:`runs` is taken.

    Attributes
    ----------
    path : Path
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def runs(self) -> Frame:
        """Return the runs that have results, one row each, in the order in which they ended.

        Returns
        -------
        Frame
            ``auc`` and ``pauc`` (normalised by the width of the false-positive range of the
            project) are means over splits, with the ends of their 95 % intervals; NaN where there
            is no value. ``params`` holds the settings, as found by tuning where there was one.
        """
        named, band = named_runs(self.path)
        rows = [
            _row(name, record, run_as_json(record, band))
            for name, record in with_distinct_names(named)
        ]
        return Frame({name: [row[name] for row in rows] for name in _COLUMNS})

    def curve(self, run: str, split: int = 0) -> Curve:
        """Return the ROC curve of a run on the held-out rows of one split, counted from 0."""
        found = ranking(self._split(run, split)).curve
        return Curve(found.fpr, found.tpr, np.asarray(found.thresholds, dtype=float))

    def scores(self, run: str) -> Frame:
        """Return the held-out scores of a run over all of its splits.

        Returns
        -------
        Frame
            ``split`` and ``row`` (position in the table, or in the test file) count from 0;
            ``positive`` is the true class; ``weight`` only where rows are weighted.
        """
        splits = self._record(run).splits
        columns = {
            "split": [np.full(s.n_test, k) for k, s in enumerate(splits)],
            "row": [split.test_rows for split in splits],
            "positive": [split.test_positive for split in splits],
            "score": [split.test_scores for split in splits],
        }
        weights = [split.test_weights for split in splits if split.test_weights is not None]
        columns |= {"weight": weights} if weights else {}
        return Frame({name: np.concatenate(parts) for name, parts in columns.items()})

    def model(self, run: str, split: int = 0) -> SavedModel:
        """Return the model that a run fitted in one split, counted from 0."""
        return SavedModel(self._split(run, split).model)

    def report(self, path: str | Path) -> None:
        """Write a report on all runs that have results: HTML, or Markdown if it ends in .md."""
        named, band = named_runs(self.path)
        write_report(Path(path), dict(with_distinct_names(named)), band, {})

    def model_card(self, run: str, path: str | Path, by: Sequence[str] = ()) -> None:
        """Write the model card of a run: HTML, or Markdown if the name ends in .md.

        Parameters
        ----------
        run : str
        path : str or Path
        by : sequence of str
            Columns that define subgroups.
        """
        named, band = named_runs(self.path)
        name, record = find_run(with_distinct_names(named), run, self.path)
        write_model_card(Path(path), name, record, band, by)

    def run(
        self, experiment: Experiment | Mapping[str, Any] | str | Path, jobs: int = 1
    ) -> str | list[str]:
        """Run an experiment and store its record in the project.

        Parameters
        ----------
        experiment : path, mapping or Experiment
            An experiment file (``*.toml``), a mapping with the same keys, whose file names are
            relative to the current folder, or an experiment of another run.
        jobs : int
            Runs at once, each in a process.

        Returns
        -------
        str or list of str
            The id of the run; a list where the experiment declares several.

        Raises
        ------
        InputError
            If the experiment or its table cannot be read, or the project cannot be written.
        RunFailedError
            If a run fails. Runs that ended before it are stored.
        """
        plans = _planned(experiment)
        with open_place(jobs) as place:
            outcomes = run_experiments(plans, place, self.path)
        for outcome in outcomes:
            if outcome.unsaved:
                raise InputError(outcome.unsaved, file=str(self.path))
            if outcome.record.error:
                method = outcome.record.experiment.method
                raise RunFailedError(f"{method} failed: {outcome.record.error}")
        ids = [outcome.record.id for outcome in outcomes]
        return ids[0] if len(plans) == 1 else ids

    def __repr__(self) -> str:
        return f"Study({str(self.path)!r})"

    def _record(self, run: str) -> RunRecord:
        return find_run(with_distinct_names(named_runs(self.path)[0]), run, self.path)[1]

    def _split(self, run: str, split: int) -> SplitResult:
        splits = self._record(run).splits
        if not 0 <= split < len(splits):
            raise input_error("study_split", run=run, count=len(splits), split=split)
        return splits[split]


def open_study(path: str | Path, *, create: bool = False) -> Study:
    """Open a project file.

    Parameters
    ----------
    path : str or Path
        A project (``*.aucproj``).
    create : bool
        Whether to create the project if there is none.

    Raises
    ------
    InputError
        If it cannot be read, is not a project, or does not exist.
    """
    path = Path(path)
    return Study((open_or_create(path) if create else ProjectFile.open(path)).path)


def _planned(
    experiment: Experiment | Mapping[str, Any] | str | Path,
) -> Sequence[PlannedRun]:
    if isinstance(experiment, Experiment):
        return [planned_run(experiment, experiment.data.open())]
    if isinstance(experiment, Mapping):
        return plan_runs(experiment).plans
    return read_study(experiment).plans


def _row(name: str, record: RunRecord, document: Mapping[str, Any]) -> dict[str, Any]:
    area, part = document["auc"], document["pauc"]
    return {
        **document,
        "name": name,
        "auc": area["value"],
        "auc_low": area["low"],
        "auc_high": area["high"],
        "pauc": part["normalized"],
        "pauc_low": part["low"],
        "pauc_high": part["high"],
        "splits": len(record.splits),
        "created": record.created,
    }


def _as_file(X: Any, columns: Sequence[str], path: Path) -> Path:
    """Write a table that is in memory as Parquet; return the path of one that is a file."""
    if isinstance(X, str | os.PathLike):
        return Path(X)
    given = X
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.shape[1] != len(columns):
            raise input_error(
                "study_array", shape=X.shape, count=len(columns), columns=", ".join(columns)
            )
        given = dict(zip(columns, X.T, strict=True))
    if isinstance(given, Mapping):
        given = {name: np.ascontiguousarray(values) for name, values in given.items()}
    import duckdb

    from aucstudio.project.data.input_files import literal

    with duckdb.connect() as connection:
        connection.register("given", given)
        connection.execute(f"COPY (SELECT * FROM given) TO {literal(str(path))} (FORMAT parquet)")
    return path


def _as_array(values: Any) -> NDArray[Any]:
    """Return a column as an array: of numbers where it holds numbers, else of objects."""
    if isinstance(values, np.ndarray):
        return values
    if values and all(isinstance(value, int | float) or value is None for value in values):
        return np.array([np.nan if value is None else value for value in values])
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _text(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
