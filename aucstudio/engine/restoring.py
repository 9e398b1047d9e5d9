"""Restore scorers from files, with every value checked."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.ensembles.combined import (
    MEMBER,
    CombinationScorer,
    MemberShare,
    Part,
    members_of,
)
from aucstudio.engine.ensembles.views import INNER, View, ViewedScorer
from aucstudio.engine.features.splines import AdditiveScorer
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.scorers import (
    EnsembleScorer,
    FourierScorer,
    KernelScorer,
    LinearScorer,
    Scorer,
    divided,
)
from aucstudio.notices import text

Arrays = Mapping[str, NDArray[Any]]
Sizes = Mapping[str, tuple[np.dtype[Any], tuple[int, ...]]]

_KINDS: dict[str, type[Scorer]] = {
    scorer.kind: scorer
    for scorer in (
        LinearScorer,
        KernelScorer,
        FourierScorer,
        EnsembleScorer,
        AdditiveScorer,
        CombinationScorer,
        ViewedScorer,
    )
}
_TYPES = {"float": np.dtype(np.float64), "int": np.dtype(np.int64), "bool": np.dtype(np.bool_)}
_SETTINGS = {
    "kernel": ("kind", "gamma", "degree", "coef0"),
    "trees": ("base",),
    "combination": ("base",),
}
_KERNELS = ("linear", "rbf", "poly")
_MOST_DEGREE = 10
# What is larger overflows with the first product of two such numbers.
LARGEST = 1e150
# A row takes as many steps as a tree is deep.
_MOST_DEPTH = 10_000


def _check_layout(
    kind: str, settings: Mapping[str, Any], found: Sizes, n_features: int | None
) -> None:
    """Check the types and shapes of a scorer's arrays, which need not be in memory.

    Parameters
    ----------
    kind : str
    settings : mapping
        Which kinds the parts of a combination are.
    found : mapping of name to dtype and shape
    n_features : int or None
        None if the scorer may be one of any features.

    Raises
    ------
    ValueError
        If the kind is unknown (the file comes from a newer program), or the arrays do not fit.
    """
    known = _KINDS.get(kind)
    if known is None:
        raise ValueError(f"unknown kind of scorer {kind!r}")
    own, _ = divided(found)
    may_lack = {
        field.name
        for field in dataclasses.fields(known)  # type: ignore[arg-type]
        if field.default_factory is not dataclasses.MISSING
    }
    if not known.layout.keys() - may_lack <= own.keys() <= known.layout.keys():
        raise ValueError(f"a {kind} scorer does not have the arrays {', '.join(sorted(own))}")
    sizes = {"4": 4} if n_features is None else {"4": 4, "d": n_features}
    for name, (dtype, shape) in own.items():
        type_name, *letters = known.layout[name].split()
        fits = dtype == _TYPES[type_name] and len(shape) == len(letters)
        # The first array of a letter determines its size.
        if not fits or any(
            sizes.setdefault(letter, size) != size
            for letter, size in zip(letters, shape, strict=True)
        ):
            raise ValueError(f"the array {name} of the scorer has the wrong type or shape")
    for inner_kind, inner_settings, inner_arrays in _inside(kind, settings, found):
        # A scorer behind a view has the columns that the view shows.
        width = own["columns"][1][0] if known is ViewedScorer else n_features
        _check_layout(inner_kind, inner_settings, inner_arrays, width)


def _inside(
    kind: str, settings: Mapping[str, Any], arrays: Mapping[str, Any]
) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Return the kind, settings and arrays of the scorers that one consists of.

    Raises
    ------
    ValueError
        Unless a view has one, a combination numbered parts, and any other scorer none.
    """
    (_, of_settings), (_, of_arrays) = divided(settings), divided(arrays)
    names: list[str] = []
    if kind == ViewedScorer.kind:
        names = [INNER]
    elif kind == CombinationScorer.kind:
        of_settings.pop(MEMBER, None)
        names = [str(k) for k in range(max(1, len(of_settings)))]
    kinds = [of_settings.get(name, {}).pop("scorer", None) for name in names]
    if of_settings.keys() != set(names) or not of_arrays.keys() <= set(names):
        raise ValueError(f"the scorers inside a {kind} scorer are inconsistent")
    if not {kind, CombinationScorer.kind, None}.isdisjoint(kinds):
        raise ValueError(f"a {kind} scorer lacks the scorer inside, or that is of its own kind")
    found = zip(kinds, names, strict=True)
    return [(str(one), of_settings[name], of_arrays.get(name, {})) for one, name in found]


def restore(
    kind: str, settings: Mapping[str, Any], arrays: Arrays, n_features: int | None = None
) -> Scorer:
    """Rebuild a scorer from its ``arrays()`` and ``settings()``.

    With ``n_features`` it is checked that it scores rows of so many.

    Raises
    ------
    ValueError
        If the kind is unknown (the file comes from a newer program), or the arrays do not fit
        each other or the features, or their numbers make no scorer.
    """
    sizes = {name: (array.dtype, array.shape) for name, array in arrays.items()}
    _check_layout(kind, settings, sizes, n_features)
    (own, _), (constants, _) = divided(arrays), divided(settings)
    for name, array in own.items():
        _require_numbers(kind, name, array)
    if set(constants) != set(_SETTINGS.get(kind, ())):
        raise ValueError(f"a {kind} scorer does not have the settings {', '.join(settings)}")
    width = len(own["columns"]) if kind == ViewedScorer.kind else n_features
    inner = [restore(*one, width) for one in _inside(kind, settings, arrays)]
    if kind == CombinationScorer.kind:
        return _combination(constants["base"], own, inner, members_of(settings))
    if kind == ViewedScorer.kind:
        return ViewedScorer(inner[0], _view(own, n_features))
    if kind == "kernel":
        return KernelScorer(_kernel(**constants), own["points"], own["weights"])
    if kind == "trees":
        return _trees(constants["base"], own, n_features)
    if kind == "additive":
        return _additive(own, n_features)
    return LinearScorer(**own) if kind == "linear" else FourierScorer(**own)


def _combination(
    base: Any, own: Arrays, scorers: list[Scorer], members: tuple[MemberShare, ...]
) -> CombinationScorer:
    if not _is_number(base) or (own["smoothings"] < 0).any():
        raise ValueError("the combination has no finite base, or a smoothing below 0")
    if len(own["factors"]) != len(scorers):
        raise ValueError("the parts of the combination are inconsistent")
    constants = own["factors"].tolist(), own["smoothings"].tolist()
    return CombinationScorer(tuple(map(Part, scorers, *constants)), float(base), members)


def _view(own: Arrays, n_features: int | None) -> View:
    if (own["factors"] < 0).any():
        raise ValueError("a view has limits that are reversed")
    columns = own["columns"]
    if (columns < 0).any() or (n_features is not None and (columns >= n_features).any()):
        raise ValueError("a view refers to columns that do not exist")
    return View(**own)


def _require_numbers(kind: str, name: str, array: NDArray[Any]) -> None:
    known = is_computable(array)
    if kind == "trees" and name == "threshold":
        known = ~np.isnan(array)  # beyond all numbers, it parts known values from missing ones
    elif kind == ViewedScorer.kind and name == "fills":
        known |= np.isnan(array)  # where missing values stay
    if not known.all():
        raise ValueError(text("scorer_numbers", name=name, largest=LARGEST))


def is_computable(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which numbers are finite and no larger than can be computed with."""
    known: NDArray[np.bool_] = np.isfinite(array) & (np.abs(array) <= LARGEST)
    return known


def _kernel(kind: Any, gamma: Any, degree: Any, coef0: Any) -> Kernel:
    sound = (
        kind in _KERNELS
        and _is_number(gamma)
        and gamma > 0
        and type(degree) is int
        and 1 <= degree <= _MOST_DEGREE
        and _is_number(coef0)
        and coef0 >= 0
    )
    if not sound:
        raise ValueError("the kernel of the scorer is unknown")
    return Kernel(kind, float(gamma), degree, float(coef0))


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and abs(value) <= LARGEST


def _trees(base: Any, arrays: Arrays, n_features: int | None) -> EnsembleScorer:
    if not _is_number(base):
        raise ValueError("the trees have no finite base")
    trees = EnsembleScorer(base=float(base), **arrays)  # what it refuses has no cycles
    _require_features(trees.feature, n_features)
    nodes = np.arange(len(trees.value))
    leaf = (trees.left == nodes) & (trees.right == nodes)
    children = np.concatenate((trees.left[~leaf], trees.right[~leaf], trees.roots))
    if np.bincount(children, minlength=1).max() > 1:
        raise ValueError("a node of the trees has several parents")
    level = trees.roots
    for _ in range(_MOST_DEPTH):
        level = level[~leaf[level]]
        if not len(level):
            return trees
        level = np.concatenate((trees.left[level], trees.right[level]))
    raise ValueError(f"a tree is more than {_MOST_DEPTH} nodes deep")


def _require_features(feature: NDArray[Any], n_features: int | None) -> None:
    if n_features is not None and (feature >= n_features).any():
        raise ValueError(f"the scorer needs {feature.max() + 1} features")


def _additive(arrays: Arrays, n_features: int | None) -> AdditiveScorer:
    if (arrays["n_breaks"] > len(arrays["breaks"])).any():  # their sum might overflow
        raise ValueError("the arrays of the additive model are inconsistent")
    scorer = AdditiveScorer(**arrays)
    last = np.cumsum(scorer.n_breaks)[:-1]
    rises = np.diff(scorer.breaks) >= 0
    rises[last[(last > 0) & (last < len(scorer.breaks))] - 1] = True  # between two functions
    if not rises.all() or len(np.unique(scorer.feature)) < len(scorer.feature):
        raise ValueError("the arrays of the additive model are inconsistent")
    _require_features(scorer.feature, n_features)
    return scorer
