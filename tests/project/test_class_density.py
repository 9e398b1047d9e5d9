"""Density regions contain the stated share of the rows of a class."""

import numpy as np
import pytest
from pyqtgraph import arrayToQPath
from PySide6.QtCore import QPointF

from aucstudio.project.geometry.score_map import share_contours


@pytest.mark.parametrize("far", [0.0, 1e4])
def test_region_contains_its_share_of_the_rows(far):
    rng = np.random.default_rng(0)
    places = np.vstack([rng.normal(size=(1_500, 2)), rng.normal((6.0, 0.0), 0.5, size=(1_500, 2))])
    places[0] = far, far
    for share, (line, connect) in zip((0.5, 0.9), share_contours(places), strict=True):
        region = arrayToQPath(line[:, 0], line[:, 1], connect=connect)
        held = np.mean([region.contains(QPointF(*place)) for place in places])
        assert held == pytest.approx(share, abs=0.05)


def test_identical_rows_have_a_region_around_them():
    for line, _ in share_contours(np.tile([2.0, -1.0], (400, 1))):
        np.testing.assert_allclose(line, np.tile([2.0, -1.0], (len(line), 1)), atol=1e-3)
