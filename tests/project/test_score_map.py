"""Slices, maps and contours against the functions they show."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from aucstudio.engine.kernels import Kernel
from aucstudio.engine.scorers import KernelScorer, LinearScorer
from aucstudio.project.data.preparing.preparation import learn_preparation
from aucstudio.project.geometry.planes import Sample, component_plane, feature_plane
from aucstudio.project.geometry.score_map import (
    CELLS,
    PlaneFrame,
    ScoreMap,
    Slice,
    score_map,
    slice_through,
)

FRAME = PlaneFrame((-2.0, 3.0), (-1.0, 2.0), (200, 100))


def always():
    return True


def test_place_maps_to_a_row_with_other_features_at_the_mean():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=5)
    part = slice_through(feature_plane(5, 3, 1), mean)
    (row,) = part.rows(np.array([[7.0, -2.0]]))
    expected = mean.copy()
    expected[[3, 1]] = 7.0, -2.0
    assert_allclose(row, expected)


def test_component_plane_round_trips():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 6)) * np.arange(1, 7)
    sample = Sample(X, np.arange(60) < 20, None, np.arange(60))
    plane = component_plane(sample)
    places = rng.normal(size=(10, 2))
    rows = slice_through(plane, X.mean(axis=0)).rows(places)
    assert_allclose(rows @ plane.directions, places)
    # Off the plane every row is the mean.
    off = np.eye(6) - plane.directions @ plane.directions.T
    assert_allclose(rows @ off, np.tile(X.mean(axis=0) @ off, (10, 1)), atol=1e-12)


def test_carried_slice_has_the_same_rows_for_another_model(table):
    one = learn_preparation(table, np.arange(0, 80))
    two = learn_preparation(table, np.arange(60, 160))
    X = one.apply(table, np.arange(20))
    plane = feature_plane(X.shape[1], 0, 2)
    places = X[:, [0, 2]]
    moved = slice_through(plane, X.mean(axis=0)).carried(one, two).rows(places)
    # The values are those of the table, whichever preparation scaled them.
    assert_allclose(moved[:, [0, 2]], two.apply(table, np.arange(20))[:, [0, 2]])
    in_one = slice_through(plane, X.mean(axis=0)).rows(places)
    assert_allclose(
        moved[:, 1] * two.scales[1] + two.means[1], in_one[:, 1] * one.scales[1] + one.means[1]
    )


def test_map_contains_the_scores_of_its_grid():
    rng = np.random.default_rng(2)
    scorer = KernelScorer(Kernel("rbf", 0.7), rng.normal(size=(9, 3)), rng.normal(size=9))
    part = slice_through(feature_plane(3, 0, 2), np.array([0.0, 0.5, 0.0]))
    for cell in CELLS:
        found = score_map(scorer, -0.25, part, FRAME, cell, always)
        assert found.cell == cell
        assert found.scores.shape == (len(found.x), len(found.y))
        assert (found.x[0], found.x[-1], found.y[0], found.y[-1]) == (-2.0, 3.0, -1.0, 2.0)
        i, j = len(found.x) // 3, len(found.y) // 2
        row = np.array([[found.x[i], 0.5, found.y[j]]])
        assert found.scores[i, j] == pytest.approx(scorer(row)[0] - 0.25)


def test_map_can_be_stopped_between_chunks():
    asked = []

    def go_on():
        asked.append(None)
        return len(asked) < 3

    part = slice_through(feature_plane(2, 0, 1), np.zeros(2))
    assert score_map(LinearScorer(np.ones(2)), 0.0, part, FRAME, 2, go_on) is None
    assert len(asked) == 3


def test_contour_of_a_linear_score_is_a_line():
    x, y = np.linspace(-1, 2, 17), np.linspace(0, 5, 11)
    places, connect = ScoreMap(x, y, 2 * x[:, None] - y[None] + 0.3, 2).contour(1.0)
    assert_allclose(2 * places[:, 0] - places[:, 1] + 0.3, 1.0)
    assert connect.tolist() == [1] * (len(places) - 1) + [0]
    assert_allclose(sorted(places[[0, -1], 0]), [0.35, 2.0])


def test_contour_of_a_circle_is_one_closed_line():
    x = y = np.linspace(-2, 2, 81)
    places, connect = ScoreMap(x, y, x[:, None] ** 2 + y[None] ** 2, 2).contour(1.7321)
    assert_allclose(np.hypot(*places.T), np.sqrt(1.7321), atol=1e-3)
    assert (connect[:-1] == 1).all()
    assert connect[-1] == 0
    assert_allclose(places[0], places[-1])
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert steps.sum() == pytest.approx(2 * np.pi * np.sqrt(1.7321), rel=1e-3)


@pytest.mark.parametrize("seed", range(3))
def test_contour_lines_are_closed_or_end_at_the_frame(seed):
    values = np.random.default_rng(seed).normal(size=(15, 12))
    places, connect = ScoreMap(np.arange(15.0), np.arange(12.0), values, 2).contour(0.0)
    ends = np.flatnonzero(connect == 0)
    starts = np.r_[0, ends[:-1] + 1]
    for start, end in zip(starts, ends, strict=True):
        on_frame = [
            np.isclose(places[k, 0], (0, 14)).any() or np.isclose(places[k, 1], (0, 11)).any()
            for k in (start, end)
        ]
        # A line is closed, or starts and ends at the frame.
        assert all(on_frame) or np.allclose(places[start], places[end])
    assert ends[-1] == len(places) - 1


def test_level_outside_the_range_has_no_contour():
    places, connect = ScoreMap(np.arange(3.0), np.arange(3.0), np.ones((3, 3)), 2).contour(2.0)
    assert places.shape == (0, 2)
    assert connect.shape == (0,)


def test_linear_score_is_mapped_without_creating_rows():
    class NoRows(Slice):
        def rows(self, places):
            raise AssertionError("rows were made")

    rng = np.random.default_rng(3)
    rest, directions, weights = rng.normal(size=50), rng.normal(size=(50, 2)), rng.normal(size=50)
    found = score_map(LinearScorer(weights), 0.5, NoRows(rest, directions), FRAME, 8, always)
    x, y = np.meshgrid(found.x, found.y, indexing="ij")
    rows = Slice(rest, directions).rows(np.stack([x, y], axis=-1).reshape(-1, 2))
    assert_allclose(found.scores.ravel(), rows @ weights + 0.5, rtol=1e-9, atol=1e-9)


def test_rows_of_many_features_are_created_in_small_chunks():
    heights = []

    class Counting(Slice):
        def rows(self, places):
            heights.append(len(places))
            return super().rows(places)

    class Other:
        def __call__(self, rows):
            return rows[:, 0]

    part = Counting(np.zeros(100_000), np.zeros((100_000, 2)))
    assert score_map(Other(), 0.0, part, FRAME, 32, always) is not None
    assert max(heights) * 100_000 <= 2**22
