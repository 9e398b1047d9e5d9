"""What scores say against a model."""

import numpy as np
import pytest

from aucstudio.project.runs.fit_notes import score_notes


def told(train, test, memorises=False, rows=200, seed=0):
    """Notes for scores that have some mean difference between the classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) < rows // 4
    scores = [shift * y + rng.normal(size=rows) for shift in (train, test)]
    return score_notes(y, scores[0], y, scores[1], memorises=memorises)


def test_a_sound_model_gets_no_note():
    assert told(1.5, 1.4) == ()


def test_overfitting_is_told_with_both_areas():
    (note,) = told(4.0, 0.3)
    assert note.startswith("Overfitted: the AUC is 0.99")


def test_methods_that_memorise_are_not_blamed():
    assert told(4.0, 0.3, memorises=True) == ()


def test_few_held_out_rows_settle_nothing():
    y = np.array([True, False, False])
    rng = np.random.default_rng(1)
    train = np.arange(100) < 30
    scores = 4.0 * train + rng.normal(size=100)
    assert score_notes(train, scores, y, np.array([0.0, 1.0, -1.0]), memorises=False) == ()


def test_training_rows_upside_down_are_told():
    (note,) = told(-2.0, 0.0)
    assert "wrong way round" in note


@pytest.mark.parametrize("constant", [0.0, -3.5])
def test_equal_scores_are_told(constant):
    y = np.array([True, False, True])
    (note,) = score_notes(y, np.full(3, constant), y, np.full(3, constant), memorises=False)
    assert "same score" in note
