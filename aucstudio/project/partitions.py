"""Rows that lie on workers, in partitions: methods that add up train on them there.

Features stay where they are. To and fro goes what the methods add up (class moments, a weight and a
score for each row, sums of features) and the few rows that a method looks at closely.

A partition is anything that the workers hold: a future or a delayed value of Dask, such as
``dask.dataframe`` and ``dask.array`` give by ``to_delayed``; no more of Dask is needed for it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import AUCClassifier
from aucstudio.engine.blocks import Look, Work, in_pieces
from aucstudio.engine.monitor import Callback
from aucstudio.project.errors import InputError
from aucstudio.project.workers import Workers, alone, answers

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Mask = NDArray[np.bool_]
Result = TypeVar("Result")
Method = TypeVar("Method", bound=AUCClassifier)


def fit_partitions(
    method: Method,
    partitions: Sequence[Any],
    workers: Workers,
    *,
    label: str,
    positive: Any = 1,
    callback: Callback | None = None,
) -> Method:
    """Train a method on a table whose partitions workers hold.

    Parameters
    ----------
    method : AUCClassifier
        One that adds up, such as ``METHODS["auc-rls"]()``; see its ``fit_blocks``.
    partitions : sequence
        Each a mapping of column names to arrays of equal length, such as a data frame, or a
        future or delayed value of one.
    workers : Workers
        A cluster: see :func:`aucstudio.project.cluster.connect`.
    label : str
        The column of the class; all others are features, numbers without gaps.
    positive : object
        The value of the label to find; every other value is negative.
    callback : callable, optional
        As for ``fit``.

    Returns
    -------
    method
        Fitted, as on all rows at once, to rounding: the sums are put together in the order of
        the partitions, whoever has made them.

    Raises
    ------
    InputError
        If there are no partitions, or they differ in their columns.
    ValueError
        What ``fit_blocks`` raises.
    WorkersLostError
        If the workers were lost.
    """
    blocks = PartitionBlocks.of(partitions, workers, label, positive)
    return method.fit_blocks(blocks, callback=callback)


@dataclasses.dataclass(frozen=True, eq=False)
class PartitionBlocks:
    """Partitions as blocks of rows; see :class:`aucstudio.engine.blocks.SpreadBlocks`.

    Attributes
    ----------
    columns : tuple of str
        Names of the features.
    positive : ndarray of bool, shape (N,)
    """

    columns: tuple[str, ...]
    positive: Mask
    _rows: list[Any]
    _starts: Index
    _workers: Workers

    @classmethod
    def of(
        cls, partitions: Sequence[Any], workers: Workers, label: str, positive: Any
    ) -> PartitionBlocks:
        """Look at the labels of the partitions; see :func:`fit_partitions`."""
        if not partitions:
            raise InputError("there are no partitions to train on", setting="data")
        held = [workers.hold(partition) for partition in partitions]
        found = answers(workers, [(_labels, one, label, positive) for one in held])
        columns = found[0][0]
        for k, (names, _) in enumerate(found):
            if names != columns:
                raise InputError(
                    f"partition {k + 1} has the columns {', '.join(names)}, the first one "
                    f"{', '.join(columns)}: give all of them the same, in the same order",
                    setting="data",
                )
        labels = [is_positive for _, is_positive in found]
        starts = np.concatenate([[0], np.cumsum([len(part) for part in labels])])
        rows = [workers.keep(_features, one, columns) for one in held]
        return cls(columns, np.concatenate(labels), rows, starts, workers)

    @property
    def features(self) -> int:
        """Number of features of a row."""
        return len(self.columns)

    def __len__(self) -> int:
        return len(self._rows)

    def block(self, k: int) -> tuple[Index, Array]:
        """Fetch a partition here."""
        (X,) = answers(self._workers, [(_itself, self._rows[k])])
        return self._numbers(k), X

    def spread(
        self, work: Work[Result], columns: Sequence[NDArray[Any]], look: Look
    ) -> Iterator[Result]:
        """Do the work on each partition where it lies."""
        calls = []
        for k, X in enumerate(self._rows):
            rows = self._numbers(k)
            calls.append((_work_on, X, work, rows, [column[rows] for column in columns]))
        yield from answers(self._workers, calls, look)

    def _numbers(self, k: int) -> Index:
        return np.arange(self._starts[k], self._starts[k + 1])


# ----------------------------------------------------------------- on the workers


def _labels(
    partition: Mapping[str, Any], label: str, positive: Any
) -> tuple[tuple[str, ...], Mask]:
    names = tuple(map(str, partition))
    if label not in names:
        raise InputError(
            f"there is no column {label} among {', '.join(names)}: name the one of the class",
            setting="label",
        )
    is_positive = np.asarray(partition[label]) == positive
    return tuple(name for name in names if name != label), np.asarray(is_positive, dtype=bool)


def _features(partition: Mapping[str, Any], columns: tuple[str, ...]) -> Array:
    return np.column_stack([np.asarray(partition[name], dtype=np.float64) for name in columns])


def _work_on(
    X: Array, work: Callable[..., Result], rows: Index, columns: Sequence[NDArray[Any]]
) -> Result:
    alone()
    return work(in_pieces(rows, X, columns))


def _itself(X: Array) -> Array:
    return X
