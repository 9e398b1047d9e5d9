"""Validation schemes, and the training and held-out rows that they draw.

Forward in time, the rows with a time are divided in its order into blocks of about equal size; rows
of one time stay together. The first block is never tested. Each other block is tested by a fit on
earlier rows: all of them, or those within a window; a gap may be left out in between.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.arrays import Array, Index, Mask, class_counts
from aucstudio.notices import Notice, notice, text
from aucstudio.project.data.any_table import AnyTable
from aucstudio.project.data.columns import ColumnInfo
from aucstudio.project.errors import InputError, column_error, input_error

if TYPE_CHECKING:
    from aucstudio.project.data.groups import Groups

Part = tuple[Index, Index]

HOLD_OUT, FOLDS, FILE, LEAVE_PAIR_OUT = "holdout", "folds", "file", "leave-pair-out"
FORWARD = "forward"
_SCHEME_OF = {"test_size": HOLD_OUT, "folds": FOLDS, "test_file": FILE, "time": FORWARD}
SCHEMES = (HOLD_OUT, FOLDS, FORWARD, FILE, LEAVE_PAIR_OUT)
_OF_FORWARD = ("time", "gap", "window")
# Repeats use consecutive seeds, which are 32-bit numbers.
BOUNDS = {"folds": (2, 1_000_000), "repeats": (1, 100_000), "seed": (0, 4_294_000_000)}


def scheme_of(settings: Collection[str]) -> str:
    """Return the scheme that settings imply: some exist in one scheme only.

    Raises
    ------
    InputError
        If they belong to different schemes.
    """
    meant = [name for name in _SCHEME_OF if name in settings]
    if "time" in meant:
        meant = [name for name in meant if name != "folds"]  # there they are its steps
    if len(meant) > 1:
        raise input_error("schemes_mixed", names=" and ".join(meant))
    return _SCHEME_OF[meant[0]] if meant else HOLD_OUT


@dataclasses.dataclass(frozen=True)
class Validation:
    """How rows are held out.

    Attributes
    ----------
    scheme : {"holdout", "folds", "forward", "file", "leave-pair-out"}
        ``"forward"`` trains on earlier rows and tests on later ones.
        ``"leave-pair-out"`` orders each pair by a fit without the pair, which only methods with a
        closed form can do.
    test_size : float
        Fraction held out by ``"holdout"``.
    folds : int
        For ``"forward"``, the number of tested blocks.
    repeats : int
        Number of hold-outs or k-fold partitions.
    seed : int
    test_file : str
        Path of the table that ``"file"`` tests on.
    time : str
        The column that ``"forward"`` orders rows by.
    gap, window : float
        For ``"forward"``, in the unit of the column: least distance of training rows from the
        tested ones, and length of the training window (0: no limit).
    """

    scheme: str = HOLD_OUT
    test_size: float = 0.25
    folds: int = 5
    repeats: int = 1
    seed: int = 0
    test_file: str = ""
    time: str = ""
    gap: float = 0.0
    window: float = 0.0

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise input_error("scheme_unknown", scheme=self.scheme, known=", ".join(SCHEMES))
        if not 0.0 < self.test_size < 1.0:
            raise input_error("test_size_invalid", size=self.test_size)
        for name, (least, most) in BOUNDS.items():
            value = getattr(self, name)
            if value < least:
                raise input_error("setting_too_small", setting=name, least=least, value=value)
            if value > most:
                raise input_error("setting_too_large", setting=name, most=most, value=value)
        for name in ("gap", "window"):
            if not 0.0 <= getattr(self, name) < np.inf:
                raise input_error("setting_negative", setting=name, value=getattr(self, name))
        if self.scheme == FILE and not self.test_file:
            raise input_error("test_file_absent")

    @property
    def splits(self) -> int:
        """Number of fits of one run."""
        if self.scheme in (FILE, LEAVE_PAIR_OUT):
            return 1
        if self.scheme == FORWARD:
            return self.folds
        return self.repeats * (self.folds if self.scheme == FOLDS else 1)

    @property
    def disjoint(self) -> bool:
        """Whether no row is held out twice."""
        return self.repeats == 1 or self.scheme in (FORWARD, FILE, LEAVE_PAIR_OUT)

    @property
    def train_share(self) -> float:
        """Share of the rows that one fit trains on."""
        if self.scheme == HOLD_OUT:
            return 1 - self.test_size
        if self.scheme == FORWARD:
            return 0.5  # on average
        return 1 - 1 / self.folds if self.scheme == FOLDS else 1.0

    def describe(self) -> str:
        """Describe the scheme in a few words."""
        shown = {
            "repeats": self.repeats if self.repeats > 1 else None,
            "share": 100 * self.test_size,
            "gap": self.gap or None,
            "window": self.window or None,
        }
        return text(f"held_out_by_{self.scheme}", **(dataclasses.asdict(self) | shown))

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data; forward settings only if they are used."""
        return {
            name: value
            for name, value in dataclasses.asdict(self).items()
            if name not in _OF_FORWARD or value != getattr(Validation, name)
        }

    def identity(self) -> dict[str, Any]:
        """Return the settings that determine the splits, as plain data."""
        return self.decisive().as_json()

    def decisive(self) -> Validation:
        """Return the same with defaults for all settings that have no effect."""
        used: dict[str, tuple[str, ...]] = {
            HOLD_OUT: ("test_size", "repeats", "seed"),
            FOLDS: ("folds", "repeats", "seed"),
            FORWARD: ("folds", *_OF_FORWARD),
            FILE: ("test_file",),
        }
        effective = {name: getattr(self, name) for name in ("scheme", *used.get(self.scheme, ()))}
        return Validation(**effective)


def times_of(table: AnyTable, name: str) -> Array:
    """Return the times of the labelled rows; NaN if missing.

    Raises
    ------
    InputError
        If there is no such column, or it holds no numbers or dates.
    """
    (cells,) = table.measured((time_column(table, name).name,))
    return np.asarray(cells[table.labelled()], dtype=np.float64)


def time_column(table: AnyTable, name: str) -> ColumnInfo:
    """Return the column that orders rows in time; InputError unless it can."""
    if not name:
        raise input_error("time_absent")
    column = table.column(name)
    if column.kind != "number" or column.role == "label":
        what = "is the label" if column.role == "label" else "holds texts"
        raise column_error("time_invalid", table.path, name, what=what)
    return column


def forward_parts(
    times: Array, steps: int, gap: float = 0.0, window: float = 0.0, codes: Index | None = None
) -> list[Part] | None:
    """Return the training and test rows of each step; None if there are too few times.

    Parameters
    ----------
    times : ndarray of shape (N,)
        Rows whose time is NaN are left out.
    steps : int
        Number of tested blocks.
    gap : float
        Least difference between the times of training rows and of the first tested row.
    window : float
        Length of the training window, which ends where the gap begins; 0 for no limit.
    codes : ndarray of int, optional
        Groups of rows; a step does not train on groups that it tests.
    """
    starts = _starts(times, steps)
    if starts is None:
        return None
    parts = []
    for start, end in zip(starts, [*starts[1:], np.inf], strict=True):
        test = np.flatnonzero((times >= start) & (times < end))
        # Times such as tenths of a day are rounded; a row at the very edge must not be lost.
        slack = 4 * np.spacing(max(abs(start), gap, window))
        before = (times < start) & (times <= start - gap + slack)
        if window > 0:
            before &= times >= start - gap - window - slack
        if codes is not None:
            before &= ~np.isin(codes, codes[test])
        parts.append((np.flatnonzero(before), test))
    return parts


def _starts(times: Array, steps: int) -> list[float] | None:
    """Return the first time of each block but the first; blocks are of about equal size."""
    values, counts = np.unique(times[~np.isnan(times)], return_counts=True)
    if len(values) <= steps:
        return None
    ends = np.cumsum(counts)
    places: list[int] = []
    for step in range(1, steps + 1):
        low = places[-1] + 1 if places else 1
        high = len(values) - steps + step - 1  # each later block needs a time
        wanted = ends[-1] * step / (steps + 1)
        near = np.abs(ends[low - 1 : high] - wanted)
        places.append(low + int(near.argmin()))
    return [float(values[place]) for place in places]


# Shares of the earlier rows on which steps train: reported, and too few.
_LEFT, _FEW_LEFT = 0.9, 0.5


def groups_left_out(table: AnyTable, validation: Validation) -> Notice | None:
    """Return a notice if whole groups leave forward steps clearly fewer training rows."""
    if validation.scheme != FORWARD or table.groups is None or table.positive is None:
        return None
    positive, groups = table.is_positive(), table.groups
    how = validation.folds, validation.gap, validation.window
    times = times_of(table, validation.time)
    kept, earlier = forward_parts(times, *how, groups.codes), forward_parts(times, *how)
    if kept is None or earlier is None:
        return None
    counts = [
        (len(rows), len(of), int(positive[rows].sum()), int(positive[of].sum()))
        for (rows, _), (of, _) in zip(kept, earlier, strict=True)
    ]
    shares = [rows / max(of, 1) for rows, of, *_ in counts]
    if min(shares) > _LEFT:
        return None
    names = "rows", "of", "positives", "of_positives"
    facts: dict[str, Any] = dict(zip(names, zip(*counts, strict=True), strict=True))
    facts |= {"share": 100 * min(shares), "columns": groups.columns}
    few = min(shares) < _FEW_LEFT
    return notice("forward_groups_few" if few else "forward_groups_left", **facts)


def blocks_of(times: Array, positive: Mask, most: int) -> Index | None:
    """Number the most blocks of times that have both classes; None if fewer than two."""
    for blocks in range(most, 1, -1):
        starts = _starts(times, blocks - 1)
        if starts is None:
            continue
        codes = np.searchsorted(starts, times, "right")
        counts = [np.bincount(codes[of], minlength=blocks) for of in (positive, ~positive)]
        if np.all(counts):
            return codes
    return None


def lacks_class(parts: list[Part], positive: Mask) -> int | None:
    """Return the first step that trains on or tests one class only."""
    for k, part in enumerate(parts):
        if any(_is_one_class(positive[rows]) for rows in part):
            return k
    return None


def most_steps(
    times: Array, positive: Mask, most: int, gap: float, window: float, codes: Index | None
) -> tuple[int, list[Part]]:
    """Return the largest number of steps that all have both classes, and their parts."""
    for steps in range(most, 0, -1):
        parts = forward_parts(times, steps, gap, window, codes)
        if parts is not None and lacks_class(parts, positive) is None:
            return steps, parts
    return 0, []


@dataclasses.dataclass(frozen=True, eq=False)
class Split:
    """One division of the labelled rows.

    Attributes
    ----------
    repeat, fold : int
    train, test : ndarray of int
        Positions among the labelled rows; ``test`` counts the rows of the test file, if any.
    """

    repeat: int
    fold: int
    train: Index
    test: Index


def splits_of(table: AnyTable, validation: Validation) -> list[Split]:
    """Draw all splits of a table; see :func:`draw_splits`."""
    times = None
    if validation.scheme == FORWARD:
        times = times_of(table, validation.time)
    return draw_splits(table.is_positive(), validation, table.groups, times)


def draw_splits(
    positive: Mask,
    validation: Validation,
    groups: Groups | None = None,
    times: NDArray[np.float64] | None = None,
) -> list[Split]:
    """Draw all splits of a scheme, stratified by class.

    Parameters
    ----------
    positive : ndarray of bool
        Whether each labelled row is positive.
    validation : Validation
    groups : Groups, optional
        Rows that stay on one side of every split.
    times : ndarray of float, optional
        Of the labelled rows, for ``"forward"``.

    Raises
    ------
    InputError
        If a class has too few rows, groups or times for the scheme.
    """
    everything = np.arange(len(positive))
    if validation.scheme == FILE:
        return [Split(0, 0, everything, np.empty(0, dtype=np.intp))]
    require_enough(min(class_counts(positive)), validation)
    if validation.scheme == LEAVE_PAIR_OUT:
        if groups is not None:
            raise pairs_break_groups(groups.words)
        return [Split(0, 0, everything, everything)]
    if validation.scheme == FORWARD:
        assert times is not None
        return _forward(positive, validation, groups, times)
    if groups is not None:
        require_groups(positive, validation, groups)
    if validation.scheme == FOLDS:
        return _folds(positive, validation, groups)
    if groups is not None:
        return _grouped_hold_outs(positive, validation, groups)
    _require_both_parts(len(positive), validation)
    from sklearn.model_selection import StratifiedShuffleSplit

    drawn = StratifiedShuffleSplit(
        validation.repeats, test_size=validation.test_size, random_state=validation.seed
    )
    pairs = list(drawn.split(everything, positive))
    for train, test in pairs:
        if _is_one_class(positive[train]):
            raise input_error("part_of_one_class", part="training", size="smaller")
        if _is_one_class(positive[test]):
            raise input_error("part_of_one_class", part="test", size="larger")
    return [Split(repeat, 0, train, test) for repeat, (train, test) in enumerate(pairs)]


def _forward(
    positive: Mask, validation: Validation, groups: Groups | None, times: NDArray[np.float64]
) -> list[Split]:
    codes, how = None if groups is None else groups.codes, (validation.gap, validation.window)
    parts = forward_parts(times, validation.folds, *how, codes)
    short = None if parts is None else lacks_class(parts, positive)
    if parts is not None and short is None:
        return [Split(0, k, train, test) for k, (train, test) in enumerate(parts)]
    steps, _ = most_steps(times, positive, validation.folds - 1, *how, codes)
    instead = f"{steps} steps" if steps >= BOUNDS["folds"][0] else "another scheme"
    if instead == "another scheme" and any(how):
        instead = "a smaller gap, a wider window or another scheme"
    facts: dict[str, Any] = {"scheme": validation.describe(), "instead": instead}
    if parts is None or short is None:
        known = len(np.unique(times[~np.isnan(times)]))
        raise input_error("forward_times_few", time=validation.time, times=known, **facts)
    trains = _is_one_class(positive[parts[short][0]])
    ungrouped = None if groups is None else forward_parts(times, validation.folds, *how)
    recur = ungrouped is not None and lacks_class(ungrouped, positive) is None
    if groups is not None and recur and steps < BOUNDS["folds"][0]:
        facts["columns"] = groups.columns
        raise input_error("forward_groups_recur", step=short + 1, **facts)
    raise input_error("forward_step_of_one_class", step=short + 1, trains=trains, **facts)


def _is_one_class(positive: Mask) -> bool:
    return bool(positive.all() or not positive.any())


def _grouped_hold_outs(positive: Mask, validation: Validation, groups: Groups) -> list[Split]:
    splits = []
    for repeat in range(validation.repeats):
        held = groups.held_out(positive, validation.test_size, (validation.seed, repeat))
        splits.append(Split(repeat, 0, np.flatnonzero(~held), np.flatnonzero(held)))
    return splits


def _folds(positive: Mask, validation: Validation, groups: Groups | None) -> list[Split]:
    count, splits = validation.folds, []
    for repeat in range(validation.repeats):
        numbers = fold_numbers(positive, count, validation.seed + repeat, groups)
        if numbers is None:
            words = groups.words if groups else ""
            raise input_error("groups_undivided", words=words, folds=count, fewer=count > 2)
        for fold in range(count):
            train, test = np.flatnonzero(numbers != fold), np.flatnonzero(numbers == fold)
            splits.append(Split(repeat, fold, train, test))
    return splits


def fold_numbers(
    positive: Mask, folds: int, seed: int, groups: Groups | None = None
) -> Index | None:
    """Assign rows to stratified folds; return the fold that tests each row.

    None if groups that stay together would leave a fold without a class.
    """
    from aucstudio.engine.crossfit.folds import fold_numbers as folds_of

    numbers = folds_of(positive, None if groups is None else groups.codes, folds, seed)
    held = np.zeros((folds, 2), dtype=bool)
    held[numbers, positive.astype(np.intp)] = True
    return numbers if held.all() else None


_FEW_TO_TEST, _FEW_TO_TRAIN = 10, 5
# The setting that decides how many rows a scheme needs.
_SETTINGS = {FOLDS: "folds", HOLD_OUT: "test_size"}


def require_groups(positive: Mask, validation: Validation, groups: Groups) -> None:
    """Raise InputError if a class has fewer groups than the scheme needs."""
    if validation.scheme not in (HOLD_OUT, FOLDS):
        return
    needed, fewest = _needed(validation), groups.fewest(positive)
    if fewest < needed:
        instead = "fewer folds" if fewest > 1 else "a test file"
        raise input_error(
            "groups_too_few",
            setting=_SETTINGS.get(validation.scheme),
            words=groups.words,
            fewest=fewest,
            groups=groups.count,
            scheme=validation.describe(),
            needed=needed,
            instead=instead,
        )


def pairs_break_groups(words: str, setting: str = "validation") -> InputError:
    """Return the error for leave-pair-out where rows are to stay together."""
    return input_error("pairs_of_groups", setting=setting, words=words)


def require_enough(fewest: int, validation: Validation) -> None:
    """Raise InputError if so few rows of the smaller class are not enough for a scheme."""
    setting, needed = _SETTINGS.get(validation.scheme, "validation"), _needed(validation)
    if fewest < min(needed, 2):
        raise input_error("class_of_one_row", setting=setting, rows=fewest)
    if fewest < needed:
        scheme = validation.describe()
        raise input_error(
            "class_too_small", setting=setting, rows=fewest, scheme=scheme, needed=needed
        )


def _require_both_parts(rows: int, validation: Validation) -> None:
    """Raise InputError if a hold-out of single rows would leave a part without a class."""
    held = int(np.ceil(validation.test_size * rows))
    if min(held, rows - held) < 2:
        scheme, few = validation.describe(), rows <= 3
        raise input_error(
            "parts_too_small", scheme=scheme, rows=rows, train=rows - held, test=held, few=few
        )


def _needed(validation: Validation) -> int:
    return {FOLDS: validation.folds, FILE: 1}.get(validation.scheme, 2)


def few_rows_caution(positives: int, negatives: int, validation: Validation) -> str:
    """Return a caution if a class has few rows for a scheme; empty if there are enough rows."""
    fewest = min(positives, negatives)
    rows = f"{fewest} {'positive' if positives <= negatives else 'negative'}{'s'[: fewest != 1]}"
    if validation.scheme == FILE:
        return notice("few_rows_to_train", rows=rows).text if fewest < _FEW_TO_TRAIN else ""
    held = round(validation.test_size * fewest)
    if validation.scheme == HOLD_OUT and validation.repeats == 1 and held < _FEW_TO_TEST:
        return notice("few_rows_in_test_part", rows=rows, held=max(1, held)).text
    return notice("few_rows_to_test", rows=rows).text if fewest < _FEW_TO_TEST else ""
