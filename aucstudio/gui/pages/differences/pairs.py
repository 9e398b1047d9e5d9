"""Pairs of a fit, computed in the background."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.scorers import KernelScorer
from aucstudio.engine.types import Array, Index, Mask
from aucstudio.gui.pages.planes.subject import PlanePicture
from aucstudio.project.geometry.pairs import (
    SUPPORT_DRAWN,
    Misranked,
    PairCloud,
    PairOrder,
    pair_cloud,
    pair_frame,
    penalised_covariance,
    places_of,
)
from aucstudio.project.geometry.planes import kernel_features
from aucstudio.project.runs.models.model import Model

Band = tuple[float, float]

NO_PAIRS: Index = np.empty((2, 0), dtype=np.intp)
WORST = 500
_WORST_DRAWN = 100


@dataclasses.dataclass(frozen=True, eq=False)
class PlacedPairs:
    """The pairs of the placed rows.

    Attributes
    ----------
    cloud : PairCloud
    frame : ndarray of shape (2, 2)
        Corners of the initial view.
    order : PairOrder or None
        None if rows have no scores.
    misranked : Misranked or None
        None if rows have no scores.
    worst : ndarray of int, shape (2, k)
        Pairs of the lowest margins, in ascending order.
    support : ndarray of int, shape (2, k)
        The support pairs that are drawn.
    penalised : ndarray of shape (2, 2) or None
        Σ(I + λΣ)⁻¹ in the plane, for a method that uses it.
    dots_wrong : ndarray of bool or None
        Which of the dots are misranked, if rows have scores.
    """

    cloud: PairCloud
    frame: Array
    order: PairOrder | None = None
    misranked: Misranked | None = None
    worst: Index = dataclasses.field(default_factory=NO_PAIRS.copy)
    support: Index = dataclasses.field(default_factory=NO_PAIRS.copy)
    penalised: Array | None = None
    dots_wrong: Mask | None = None


def find_pairs(picture: PlanePicture) -> PlacedPairs:
    """Rank the pairs of a picture; called on another thread."""
    subject, sample = picture.subject, picture.sample
    cloud = pair_cloud(picture.places, sample.positive)
    frame = pair_frame(cloud, sample.positive)
    if sample.scores is None:
        return PlacedPairs(cloud, frame)
    order = PairOrder.of(sample.positive, sample.scores)
    found, worst = order.misranked(), order.worst(WORST)
    dots = None if cloud.rows is None else _are_misranked(sample.scores, cloud.rows)
    # An even sample may leave out the very pairs that one looks for.
    extreme = worst[:, sample.scores[worst[0]] <= sample.scores[worst[1]]][:, :_WORST_DRAWN]
    found = dataclasses.replace(found, rows=_together(found.rows, extreme))
    support, penalised = NO_PAIRS, None
    if subject.split is not None and not subject.held_out:
        support = places_of(sample, subject.split.support_pairs[:, :SUPPORT_DRAWN])
        penalised = _penalised(subject.split.model, picture)
    return PlacedPairs(cloud, frame, order, found, worst, support, penalised, dots)


def _are_misranked(scores: Array, rows: Index) -> Mask:
    found: Mask = scores[rows[0]] <= scores[rows[1]]
    return found


def _together(*lists: Index) -> Index:
    """Merge lists of pairs, each pair once."""
    return np.unique(np.concatenate(lists, axis=1), axis=1)


def _penalised(model: Model, picture: PlanePicture) -> Array | None:
    # Σ of the penalty is that of the training rows.
    if "structure" not in model.params:
        return None
    sample, plane = picture.sample, picture.plane
    values, positive, directions = sample.X, sample.positive, plane.directions
    scorer = model.scorer
    if isinstance(scorer, KernelScorer):
        if not isinstance(plane.across, KernelScorer):
            return None
        values, positive, directions = kernel_features(sample, scorer, plane.across)
    penalty = float(model.params["structure"])
    return penalised_covariance(values, positive, directions, penalty)


def drawn_pairs(pairs: PlacedPairs, band: Band) -> tuple[Index, Index]:
    """Return the misranked pairs that are drawn, outside the FPR range and within it."""
    if pairs.order is None or pairs.misranked is None:
        return NO_PAIRS, NO_PAIRS
    rows = pairs.misranked.rows
    inside = _in_band(pairs.order, rows, band)
    return rows[:, ~inside], _together(rows[:, inside], pairs.order.misranked(band=band).rows)


def _in_band(order: PairOrder, rows: Index, band: Band) -> Mask:
    """Return which pairs have a negative in the FPR range."""
    inside = np.zeros(len(order.positives) + len(order.negatives), dtype=bool)
    inside[order.band(*band)] = True
    found: Mask = inside[rows[1]]
    return found


def pair_columns(picture: PlanePicture, band: Band) -> dict[str, NDArray[np.generic]]:
    """Return the drawn pairs as columns: their rows, places and what they are.

    Rows are counted from 1 without the header.
    """
    pairs: PlacedPairs = picture.extra
    kinds = [*drawn_pairs(pairs, band), pairs.support]
    if pairs.cloud.rows is not None:
        kinds.append(pairs.cloud.rows)
    rows = _together(*kinds)
    places = pairs.cloud.differences(rows)
    sample = picture.sample
    misranked = in_band = np.zeros(rows.shape[1], dtype=bool)
    if pairs.order is not None and sample.scores is not None:
        misranked = _are_misranked(sample.scores, rows)
        in_band = _in_band(pairs.order, rows, band)
    support = {(i, j) for i, j in pairs.support.T.tolist()}
    return {
        "positive row": sample.numbers[rows[0]] + 1,
        "negative row": sample.numbers[rows[1]] + 1,
        "x": places[:, 0],
        "y": places[:, 1],
        "misranked": misranked,
        "in FPR range": in_band,
        "support": np.array([(i, j) in support for i, j in rows.T.tolist()], dtype=bool),
    }
