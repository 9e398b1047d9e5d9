import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from aucstudio.project.data.validation import Validation, draw_splits
from aucstudio.project.errors import InputError

POSITIVE = np.arange(90) % 3 == 0


def test_holdout_equals_scikit_learns_stratified_split():
    split = draw_splits(POSITIVE, Validation(test_size=0.5, seed=0))[0]
    train, test = train_test_split(np.arange(90), test_size=0.5, random_state=0, stratify=POSITIVE)
    assert split.train.tolist() == train.tolist()
    assert split.test.tolist() == test.tolist()


def test_folds_test_every_row_once_per_repeat():
    splits = draw_splits(POSITIVE, Validation(scheme="folds", folds=5, repeats=3, seed=4))
    assert len(splits) == 15
    for repeat in range(3):
        tested = np.concatenate([s.test for s in splits if s.repeat == repeat])
        assert sorted(tested) == list(range(90))
    assert splits[0].test.tolist() != splits[5].test.tolist()


def test_splits_keep_the_share_of_positives():
    for split in draw_splits(POSITIVE, Validation(scheme="folds", folds=6, repeats=2)):
        assert POSITIVE[split.test].mean() == pytest.approx(1 / 3)


def test_seed_determines_the_splits():
    first, again, other = (
        draw_splits(POSITIVE, Validation(repeats=3, seed=seed)) for seed in (1, 1, 2)
    )
    assert [s.test.tolist() for s in first] == [s.test.tolist() for s in again]
    assert [s.test.tolist() for s in first] != [s.test.tolist() for s in other]


@pytest.mark.parametrize(
    ("changes", "setting"),
    [
        ({"test_size": 0.0}, "test_size"),
        ({"test_size": 1.5}, "test_size"),
        ({"scheme": "folds", "folds": 1}, "folds"),
        ({"repeats": 0}, "repeats"),
        ({"seed": -1}, "seed"),
        ({"scheme": "leave"}, "validation"),
        ({"scheme": "file"}, "test_file"),
    ],
)
def test_invalid_schemes_are_refused_by_name(changes, setting):
    with pytest.raises(InputError) as caught:
        Validation(**changes)
    assert caught.value.setting == setting


@pytest.mark.parametrize(("rows", "share"), [(4, 0.25), (5, 0.9)])
def test_part_of_one_row_is_refused(rows, share):
    positive = np.arange(rows) < 2
    with pytest.raises(InputError, match=f"divides {rows} rows into .* need both classes"):
        draw_splits(positive, Validation(test_size=share))


@pytest.mark.parametrize("validation", [Validation(), Validation(scheme="folds", folds=3)])
def test_too_few_rows_of_a_class_are_refused(validation):
    positive = np.arange(40) == 7
    with pytest.raises(InputError, match="smaller class has 1 row, and no split"):
        draw_splits(positive, validation)
