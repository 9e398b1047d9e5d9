"""Whether rows and groups are enough for a validation scheme, and words for where they are not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from aucstudio.project.data.splitting.groups import Groups
from aucstudio.project.data.splitting.validation import FILE, FOLDS, HOLD_OUT, Validation
from aucstudio.project.errors import InputError

Mask = NDArray[np.bool_]

_FEW_TO_JUDGE, _FEW_TO_LEARN = 10, 5


def require_groups(positive: Mask, validation: Validation, groups: Groups) -> None:
    """Raise InputError if a class lies within fewer groups than the scheme needs."""
    if validation.scheme not in (HOLD_OUT, FOLDS):
        return
    needed, fewest = _needed(validation), groups.fewest(positive)
    if fewest < needed:
        instead = "fewer folds" if fewest > 1 else "a test file"
        raise InputError(
            f"rows of one {groups.words} are kept together, and one class is in only {fewest} of "
            f"{groups.count:,} groups; {validation.describe()} needs {needed}: choose {instead}, "
            f"or give {groups.words} another role",
            setting=_setting(validation),
        )


def pairs_break_groups(words: str, setting: str = "validation") -> InputError:
    """Return the error for leave-pair-out where rows are to stay together."""
    instead = "tune by auc or pauc" if setting == "tune" else "choose hold-out or cross-validation"
    return InputError(
        f"leave-pair-out trains on other rows of the same groups, but rows of one {words} must "
        f"stay together: {instead}, or give {words} another role",
        setting=setting,
    )


def require_enough(fewest: int, validation: Validation) -> None:
    """Raise InputError if so few rows of the smaller class are not enough for a scheme."""
    needed = _needed(validation)
    if fewest >= needed:
        return
    if fewest < 2:
        raise InputError(
            f"the smaller class has {fewest} row{'' if fewest else 's'}, and no split can hold one "
            "in training and one in test: add rows of that class, or choose a test file",
            setting=_setting(validation),
        )
    raise InputError(
        f"the smaller class has {fewest} rows; {validation.describe()} needs at least {needed}: "
        f"choose fewer folds, {fewest} at most, or a test file",
        setting=_setting(validation),
    )


def require_both_parts(positive: Mask, validation: Validation) -> None:
    """Refuse a hold-out of single rows, one of which would leave a part without a class."""
    held = int(np.ceil(validation.test_size * len(positive)))
    if min(held, len(positive) - held) < 2:
        raise InputError(
            f"{validation.describe()} divides {len(positive)} rows into {len(positive) - held} to "
            f"train on and {held} to test on, and each part needs both classes: "
            + ("choose another test size" if len(positive) > 3 else "add rows"),
            setting="test_size",
        )


def _needed(validation: Validation) -> int:
    needed = {FOLDS: validation.folds, FILE: 1}
    return needed.get(validation.scheme, 2)


def _setting(validation: Validation) -> str:
    return {FOLDS: "folds", HOLD_OUT: "test_size"}.get(validation.scheme, "validation")


def few_rows_caution(positives: int, negatives: int, validation: Validation) -> str:
    """Return a caution if a class has few rows for a scheme.

    Returns
    -------
    str
        A sentence; empty where there are rows enough.
    """
    fewest = min(positives, negatives)
    rows = "positive" if positives <= negatives else "negative"
    some = f"Only {fewest} {rows}{'' if fewest == 1 else 's'}"
    if validation.scheme == FILE:
        return f"{some} to learn from." if fewest < _FEW_TO_LEARN else ""
    held = round(validation.test_size * fewest)
    if validation.scheme == HOLD_OUT and validation.repeats == 1 and held < _FEW_TO_JUDGE:
        return (
            f"{some}, about {max(1, held)} of them in the test part: intervals will be wide. "
            "Cross-validation tests all of them."
        )
    if fewest < _FEW_TO_JUDGE:
        return f"{some}: intervals will be wide, and few differences significant."
    return ""
