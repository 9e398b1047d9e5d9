"""Notices of a run: about its rows, its weights and its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import inference, roc
from aucstudio.engine.params import declared_params
from aucstudio.notices import Notice, notice
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import spell_cell
from aucstudio.project.data.table import Table
from aucstudio.project.data.text.dates import grows
from aucstudio.project.data.validation import (
    FILE,
    FORWARD,
    Split,
    Validation,
    groups_left_out,
    time_column,
    times_of,
)

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier

_LEVEL = 0.99
# Scores that differ by no more than this share of their size differ by rounding.
_ROUNDING = 1e-9
FAR_BETTER = 0.1  # by how much an overfitted area on training rows exceeds the held-out interval


def forward_notes(
    validation: Validation, table: AnyTable, splits: Sequence[Split], folds_within: bool
) -> tuple[Notice, ...]:
    """Return notes on a run that goes forward in time.

    ``folds_within`` says that the method splits its training rows itself.
    """
    if validation.scheme != FORWARD:
        return ()
    name, times = validation.time, times_of(table, validation.time)
    column = time_column(table, name)
    first = float(times[splits[0].test].min())
    since = spell_cell(column, first)
    never = int(np.count_nonzero(times < first))
    tested = sum(len(split.test) for split in splits)
    unit = f"{'day' if column.is_date else 'unit'}s of {name}"
    notes = [
        notice(
            "forward",
            column=name,
            tested=tested,
            since=since,
            steps=len(splits),
            never=never,
        )
    ]
    if folds_within:
        inner = "forward_inner_blocks" if table.groups is None else "forward_inner_groups"
        notes.append(notice(inner))
    if validation.gap:
        notes.append(notice("forward_gap", gap=float(validation.gap), unit=unit))
    if validation.window:
        notes.append(notice("forward_window", window=float(validation.window), unit=unit))
    if missing := int(np.isnan(times).sum()):
        notes.append(notice("forward_missing", rows=missing, column=name))
    if column.role in ("number", "category") and grows(column):
        notes.append(notice("forward_trains_on_time", column=name))
    if table.groups is not None:
        notes.append(notice("forward_groups", columns=tuple(table.groups.columns)))
        left_out = groups_left_out(table, validation)
        notes += [] if left_out is None else [left_out]
    return tuple(notes)


def group_notes(
    validation: Validation, table: AnyTable, test_table: AnyTable | None, splits: Sequence[Split]
) -> tuple[Notice, ...]:
    """Return notes on the rows that are kept together."""
    groups = table.groups
    if groups is None or validation.scheme == FORWARD:
        return ()
    columns = tuple(groups.columns)
    if validation.scheme == FILE:
        known = () if test_table is None else [column.name for column in test_table.columns]
        unknown = tuple(name for name in columns if name not in known)
        kept = (
            notice("groups_unknown_in_file", columns=unknown)
            if unknown
            else notice("groups_apart_in_file", columns=columns)
        )
    else:
        kept = notice("groups_kept", columns=columns, groups=int(groups.count))
    notes = [kept]
    different = len({split.test.tobytes() for split in splits if split.fold == 0})
    if different < validation.repeats and validation.scheme != FILE:
        notes.append(notice("repeats_alike", different=different, repeats=int(validation.repeats)))
    return tuple(notes)


def shared_notes(table: AnyTable, test_table: AnyTable | None) -> tuple[Notice, ...]:
    """Return a note on rows of a test file that are training rows, if both are in memory."""
    if not isinstance(table, Table) or not isinstance(test_table, Table):
        return ()
    from aucstudio.project.data.findings.copies import shared

    found = shared(table, test_table)
    return () if found is None else (found,)


def table_weights_notes(table: AnyTable) -> tuple[Notice, ...]:
    if table.weight is None or table.weights is None:
        return ()
    from aucstudio.project.data.weights import weights_notes

    rows = table.file_rows[table.labelled()]
    return weights_notes(table.weight, table.weights, rows, table.weight_kind)


def score_notes(
    train_positive: NDArray[np.bool_],
    train_scores: NDArray[np.float64],
    test_positive: NDArray[np.bool_],
    test_scores: NDArray[np.float64],
    *,
    method: type[AUCClassifier],
    params: Mapping[str, Any],
    weights: tuple[NDArray[np.float64] | None, NDArray[np.float64] | None] = (None, None),
    weight_kind: str = roc.SAMPLING,
    groups: NDArray[np.intp] | None = None,
) -> tuple[Notice, ...]:
    """Return notes on constant scores, training rows that are ranked backwards, and overfitting.

    Parameters
    ----------
    train_positive, train_scores, test_positive, test_scores : ndarray
    method : class of the method
    params : mapping
        Its settings.
    weights : (ndarray or None, ndarray or None)
        Of the training and of the held-out rows; None if every row counts once.
    weight_kind : {"sampling", "frequency"}
    groups : ndarray of int, optional
        Of the held-out rows.
    """
    # Halves, because the difference of the largest numbers overflows.
    low, high = train_scores.min() / 2, train_scores.max() / 2
    if high - low <= _ROUNDING * max(abs(low), abs(high)):
        helps = (*_weaker_settings(method, params), notice("help_columns"))
        return (notice("constant_scores", helps=helps),)
    of_train, of_test = weights
    trained = roc.auc(train_positive, train_scores, weights=of_train)
    if trained < 0.5:
        helps = (*_balance(method, params), notice("help_milder"))
        return (notice("ranks_backwards", auc=float(trained), helps=helps),)
    if method.memorises or not 0 < np.count_nonzero(test_positive) < len(test_positive):
        return ()
    sampled: roc.Sampled = {"weights": of_test, "weight_kind": weight_kind, "groups": groups}
    held_out = inference.delong_interval(test_positive, test_scores, _LEVEL, **sampled)
    if not trained > held_out.high + FAR_BETTER:  # unknown where too few rows decide
        return ()
    return (notice("overfitted", trained=float(trained), held_out=float(held_out.value)),)


def _weaker_settings(method: type[AUCClassifier], params: Mapping[str, Any]) -> list[Notice]:
    """List changes of settings that allow a fit that is not constant."""
    known, helps = declared_params(method), _balance(method, params)
    for name, change in (("C", "help_larger"), ("regularization", "help_smaller")):
        if name in known:
            setting = f"{known[name].label.lower()} {known[name].symbol}".strip()
            helps.append(notice(change, setting=setting))
    if "min_samples_leaf" in known:
        helps.append(notice("help_leaf"))
    if "kernel" in known and params.get("kernel") == "linear":
        helps.append(notice("help_kernel"))
    return helps


def _balance(method: type[AUCClassifier], params: Mapping[str, Any]) -> list[Notice]:
    takes = "class_weight" in declared_params(method) and params.get("class_weight") is None
    return [notice("help_balance")] if takes else []


def leak_notes(
    names: Sequence[str], X: NDArray[np.float64], positive: NDArray[np.bool_]
) -> tuple[Notice, ...]:
    """Return a note on a prepared column that separates the classes alone, as the label would.

    Parameters
    ----------
    names : sequence of str
        Of the columns of ``X``.
    X : ndarray of shape (N, d)
        The training rows.
    positive : ndarray of bool, shape (N,)
    """
    from aucstudio.project.data.findings.separation import rules_out_chance

    if not rules_out_chance(positive, len(names)):
        return ()
    (low, high), (below, above) = (
        (np.fmin.reduce(part), np.fmax.reduce(part)) for part in (X[positive], X[~positive])
    )
    apart = np.flatnonzero((low > above) | (high < below))
    if not len(apart):
        return ()
    column, more = str(names[apart[0]]), len(apart) - 1
    if more:
        return (notice("columns_separate", column=column, more=more),)
    return (notice("column_separates", column=column),)
