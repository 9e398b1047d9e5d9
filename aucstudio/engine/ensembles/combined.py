"""The scorer of a combination, with as few parts as its members allow.

Sums of linear scorers are linear, sums of trees are trees, and sums of expansions in one kernel, or
of random waves, are one expansion: members of one kind become one part, whose values carry weights
and scales, and so do those that look at rows through the same view. Where a link stands between, a
member stays a part of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine import roc
from aucstudio.engine.arrays import Array, Mask
from aucstudio.engine.ensembles.selection import Criterion
from aucstudio.engine.ensembles.views import View, ViewedScorer, seen
from aucstudio.engine.scorers import (
    EnsembleScorer,
    FourierScorer,
    KernelScorer,
    LinearScorer,
    Scorer,
    divided,
    joined_trees,
)

MEMBER = "member"  # what names of settings of members begin with


@dataclasses.dataclass(frozen=True)
class Scale:
    """An increasing map of a member's scores: (link(s) - shift) / spread.

    Attributes
    ----------
    smoothing : float
        Where it is not 0 the scores are shares in [0, 1], and the link is their log-odds with so
        much added to both sides, ``log((s + smoothing) / (1 - s + smoothing))``; else there is
        none.
    shift, spread : float
        Mean and standard deviation of the linked held-out scores; a spread of 1 where all are
        equal.
    """

    smoothing: float
    shift: float
    spread: float

    @classmethod
    def learn(cls, scores: Array, smoothing: float = 0.0, weights: Array | None = None) -> Self:
        """Fit the map to held-out scores, shape (N,), whose rows may weigh differently."""
        linked = link(scores, smoothing)
        # Far from 0, or of huge scores, a plain mean and deviation lose their digits.
        unit = float(np.abs(linked).max()) or 1.0
        shift = float(np.average(linked / unit, weights=weights))
        spread = float(np.sqrt(np.average((linked / unit - shift) ** 2, weights=weights)))
        return cls(smoothing, shift * unit, spread * unit if spread > 1e-12 else 1.0)

    def __call__(self, scores: Array) -> Array:
        """Map scores, shape (N,)."""
        return np.asarray((link(scores, self.smoothing) - self.shift) / self.spread)


AS_IT_IS = Scale(0.0, 0.0, 1.0)


def link(scores: Array, smoothing: float) -> Array:
    """Return smoothed log-odds of shares; scores as they are where ``smoothing`` is 0."""
    if smoothing == 0.0:
        return scores
    return np.asarray(np.log((scores + smoothing) / (1.0 - scores + smoothing)))


@dataclasses.dataclass(frozen=True, eq=False)
class Part:
    """A scorer in a sum: ``factor * link(scorer(x))``.

    Attributes
    ----------
    scorer : Scorer
    factor : float
    smoothing : float
        0 where there is no link.
    """

    scorer: Scorer
    factor: float = 1.0
    smoothing: float = 0.0


@dataclasses.dataclass(frozen=True)
class MemberShare:
    """What a member is, and what it has to do with the combination.

    Attributes
    ----------
    title : str
        Its method and settings, in one line.
    weight : float
        Within [0, 1]; all weights sum to 1.
    auc : float
        Of its held-out scores alone.
    adds : float
        How much the criterion of the combination falls without it, on held-out scores.
    """

    title: str
    weight: float
    auc: float
    adds: float


@dataclasses.dataclass(frozen=True, eq=False)
class CombinationScorer(Scorer):
    """Scores ``base`` plus the sum of its parts.

    In files, an array or setting of part k is called ``k.name``, and its kind ``k.scorer``; what
    is known of member k is called ``member.k.name``.

    Attributes
    ----------
    parts : tuple of Part
    base : float
    members : tuple of MemberShare
        What was combined, which scores nothing: several may have become one part.
    """

    parts: tuple[Part, ...]
    base: float = 0.0
    members: tuple[MemberShare, ...] = ()
    kind: ClassVar[str] = "combination"
    # That of the parts; these two are its own.
    layout: ClassVar[Mapping[str, str]] = {"factors": "float p", "smoothings": "float p"}

    def __call__(self, X: Array) -> Array:
        scores = np.full(len(X), self.base)
        for part in self.parts:
            scores += part.factor * link(part.scorer(X), part.smoothing)
        return scores

    @property
    def within(self) -> tuple[Scorer, ...]:
        return tuple(part.scorer for part in self.parts)

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "factors": np.array([part.factor for part in self.parts]),
            "smoothings": np.array([part.smoothing for part in self.parts]),
            **self._named(lambda scorer: scorer.arrays()),
        }

    def settings(self) -> dict[str, Any]:
        return {
            "base": self.base,
            **self._named(lambda scorer: {"scorer": scorer.kind, **scorer.settings()}),
            **{
                f"{MEMBER}.{k}.{name}": value
                for k, member in enumerate(self.members)
                for name, value in dataclasses.asdict(member).items()
            },
        }

    def _named(self, values: Callable[[Scorer], Mapping[str, Any]]) -> dict[str, Any]:
        return {
            f"{k}.{name}": value
            for k, part in enumerate(self.parts)
            for name, value in values(part.scorer).items()
        }


def members_of(settings: Mapping[str, Any]) -> tuple[MemberShare, ...]:
    """Read the members from settings.

    Raises
    ------
    ValueError
        If they are not laid out so.
    """
    _, described = divided(divided(settings)[1].get(MEMBER, {}))
    try:
        members = [MemberShare(**described[str(k)]) for k in range(len(described))]
    except (KeyError, TypeError):
        raise ValueError("the members of the combination are not described whole") from None
    for member in members:
        numbers = (member.weight, member.auc, member.adds)
        if type(member.title) is not str or not all(type(n) in (int, float) for n in numbers):
            raise ValueError("the members of the combination are not described whole")
    return tuple(members)


def combine(
    members: Iterable[tuple[Sequence[Scorer], Sequence[Scale], float]],
    shares: Sequence[MemberShare] = (),
) -> CombinationScorer:
    """Make one scorer of the weighted members.

    Parameters
    ----------
    members : iterable of (scorers, scales, weight)
        The scorers of a member, one for each fold, and the scales of these: the mean of the scores
        on their scales counts. Where there is a link, the scales are the same, and the link is that
        of the mean of the scores.
    shares : sequence of MemberShare
        What is known of the members.
    """
    parts, base = [], 0.0
    for scorers, scales, weight in members:
        if weight == 0.0:
            continue
        factors = [weight / (len(scorers) * scale.spread) for scale in scales]
        base -= sum(factor * scale.shift for factor, scale in zip(factors, scales, strict=True))
        if scales[0].smoothing:
            (mean,) = _merged([Part(scorer, 1.0 / len(scorers)) for scorer in scorers])
            parts.append(Part(_scaled(mean), weight / scales[0].spread, scales[0].smoothing))
        else:
            for part in map(Part, scorers, factors):
                if isinstance(part.scorer, CombinationScorer):
                    base += part.factor * part.scorer.base
                parts += _opened(part)
    return CombinationScorer(tuple(_merged(parts)), base, tuple(shares))


def _opened(part: Part) -> list[Part]:
    """Return the parts of a part that is a combination itself."""
    scorer = part.scorer
    if not isinstance(scorer, CombinationScorer):
        return [part]
    return [dataclasses.replace(p, factor=part.factor * p.factor) for p in scorer.parts]


def _merged(parts: Sequence[Part]) -> list[Part]:
    """Add up what adds up to one scorer; keeps the order of first appearance."""
    groups: dict[Any, list[Part]] = {}
    for k, part in enumerate(parts):
        groups.setdefault(_same_kind(part, k), []).append(part)
    return [_sum(group) for group in groups.values()]


def _same_kind(part: Part, k: int) -> Any:
    """Return what is equal for parts that add up to one scorer."""
    scorer = part.scorer
    if isinstance(scorer, ViewedScorer) and not part.smoothing:
        behind = _same_kind(Part(scorer.scorer), k)
        return k if behind == k else (scorer.view.identity, behind)
    if part.smoothing or not isinstance(
        scorer, LinearScorer | EnsembleScorer | KernelScorer | FourierScorer
    ):
        return k
    return scorer.kind, getattr(scorer, "kernel", None)


def _sum(parts: list[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    scorers: list[Any] = [part.scorer for part in parts]
    first, factors = scorers[0], [part.factor for part in parts]
    if isinstance(first, ViewedScorer):
        behind = _sum([Part(s.scorer, f) for s, f in zip(scorers, factors, strict=True)])
        return Part(ViewedScorer(_scaled(behind), first.view))
    if isinstance(first, EnsembleScorer):
        base = sum(factor * s.base for factor, s in zip(factors, scorers, strict=True))
        return Part(joined_trees(scorers, float(base), factors))
    scaled = [_scaled(part) for part in parts]
    if isinstance(first, LinearScorer):
        return Part(LinearScorer(np.sum([s.weights for s in scaled], axis=0)))
    weights = np.concatenate([s.weights for s in scaled])
    if isinstance(first, KernelScorer):
        points = np.concatenate([s.points for s in scaled])
        return Part(KernelScorer(first.kernel, *_once(points, weights)))
    waves, phases = (
        np.concatenate([getattr(s, n) for s in scaled]) for n in ("frequencies", "phases")
    )
    at, waves_of = _once(np.column_stack([waves, phases]), weights)
    return Part(FourierScorer(at[:, :-1], at[:, -1], waves_of))


def _once(points: Array, weights: Array) -> tuple[Array, Array]:
    """Keep each point once, with the sum of its weights."""
    kept, places = np.unique(points, axis=0, return_inverse=True)
    sums: Array = np.zeros(len(kept))
    np.add.at(sums, places.ravel(), weights)
    return kept, sums


def _scaled(part: Part) -> Any:
    """Return the scorer ``factor * scorer``, where that is of the same kind."""
    scorer: Any = part.scorer
    if part.factor == 1.0:
        return scorer
    if isinstance(scorer, EnsembleScorer):
        value, base = part.factor * scorer.value, part.factor * scorer.base
        return dataclasses.replace(scorer, value=value, base=base)
    return dataclasses.replace(scorer, weights=part.factor * scorer.weights)


def seen_through(scorer: CombinationScorer, view: View | None) -> CombinationScorer:
    """Return a combination whose parts look at rows through a view, if there is one."""
    if view is None:
        return scorer
    parts = [dataclasses.replace(part, scorer=seen(part.scorer, view)) for part in scorer.parts]
    return dataclasses.replace(scorer, parts=tuple(parts))


def member_shares(
    titles: Sequence[str],
    positive: Mask,
    scores: Array,
    weights: Array,
    criterion: Criterion,
    row_weights: Array | None = None,
) -> list[MemberShare]:
    """Return the members' weights, their areas, and what each adds; the weightiest first.

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
