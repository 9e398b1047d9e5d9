"""What each member has to do with a combination."""

from __future__ import annotations

from collections.abc import Sequence

from aucstudio.engine import roc
from aucstudio.engine.ensembles.combined import MemberShare
from aucstudio.engine.ensembles.criterion import Criterion
from aucstudio.engine.types import Array, Mask


def member_shares(
    titles: Sequence[str],
    positive: Mask,
    scores: Array,
    weights: Array,
    criterion: Criterion,
    row_weights: Array | None = None,
) -> list[MemberShare]:
    """Tell the members' weights, their areas, and what each adds; the weightiest first.

    Parameters
    ----------
    titles : sequence of str
    positive : ndarray of bool, shape (N,)
    scores : ndarray of shape (members, N)
        Held out, on their common scale.
    weights : ndarray of shape (members,)
    criterion : Criterion
    row_weights : ndarray of shape (N,), optional
        How much each row counts.
    """
    total = weights @ scores
    reached = criterion(positive, total, row_weights)
    found = []
    for title, of_member, weight in zip(titles, scores, weights.tolist(), strict=True):
        without = criterion(positive, total - weight * of_member, row_weights)
        area = roc.auc(positive, of_member, weights=row_weights)
        found.append(MemberShare(title, weight, area, reached - without))
    return sorted(found, key=lambda share: -share.weight)
