"""Restore scorers from files, with every value checked."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucstudio.engine.ensembles.combined import (
    CombinationScorer,
    Part,
    View,
    ViewedScorer,
    members_of,
    of_inner,
)
from aucstudio.engine.features.splines import AdditiveScorer
from aucstudio.engine.kernels import Kernel
from aucstudio.engine.scorers import (
    EnsembleScorer,
    FourierScorer,
    KernelScorer,
    LinearScorer,
    Scorer,
    of_part,
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
_SETTINGS = {"kernel": ("kind", "gamma", "degree", "coef0"), "trees": ("base",)}
_KERNELS = ("linear", "rbf", "poly")
_MOST_DEGREE = 10
# What is larger overflows with the first product of two such numbers.
LARGEST = 1e150
# A row takes as many steps as a tree is deep.
_MOST_DEPTH = 10_000


def check_layout(
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
    if known is CombinationScorer:
        found = _check_parts(settings, found, n_features)
    if known is ViewedScorer:
        found = _check_behind(settings, found)
    may_lack = {
        field.name
        for field in dataclasses.fields(known)  # type: ignore[arg-type]
        if field.default_factory is not dataclasses.MISSING
    }
    if not known.layout.keys() - may_lack <= found.keys() <= known.layout.keys():
        raise ValueError(f"a {kind} scorer does not have the arrays {', '.join(sorted(found))}")
    sizes = {"4": 4} if n_features is None else {"4": 4, "d": n_features}
    for name, (dtype, shape) in found.items():
        type_name, *letters = known.layout[name].split()
        fits = dtype == _TYPES[type_name] and len(shape) == len(letters)
        # The first array of a letter determines its size.
        if not fits or any(
            sizes.setdefault(letter, size) != size
            for letter, size in zip(letters, shape, strict=True)
        ):
            raise ValueError(f"the array {name} of the scorer has the wrong type or shape")


def _check_parts(settings: Mapping[str, Any], found: Sizes, n_features: int | None) -> Sizes:
    """Check the arrays of a combination's parts; returns its own."""
    shapes = {shape for name, (_, shape) in found.items() if name in CombinationScorer.layout}
    parts = _count_parts(settings)
    if shapes != {(parts,)}:
        raise ValueError("the parts of the combination are inconsistent")
    for k in range(parts):
        of_this = of_part(k, settings)
        if of_this["scorer"] == CombinationScorer.kind:
            raise ValueError("a part of the combination is a combination")
        check_layout(of_this["scorer"], of_this, of_part(k, found), n_features)
    own = {name: size for name, size in found.items() if name in CombinationScorer.layout}
    if len(own) + sum(len(of_part(k, found)) for k in range(parts)) < len(found):
        raise ValueError("the combination has arrays that belong to none of its parts")
    return own


def _check_behind(settings: Mapping[str, Any], found: Sizes) -> Sizes:
    """Check the arrays of the scorer behind a view; returns those of the view."""
    inner, behind = of_inner(settings), of_inner(found)
    own = {name: size for name, size in found.items() if name in ViewedScorer.layout}
    if inner.get("scorer") in (None, ViewedScorer.kind, CombinationScorer.kind):
        raise ValueError("a view has no scorer")
    if len(own) + len(behind) < len(found):
        raise ValueError("a view has arrays that belong to no scorer")
    width = own["columns"][1] if "columns" in own else ()
    check_layout(inner["scorer"], inner, behind, width[0] if len(width) == 1 else None)
    return own


def _count_parts(settings: Mapping[str, Any]) -> int:
    names = [name.split(".") for name in settings]
    numbers = {name[0] for name in names if len(name) == 2 and name[1] == "scorer"}
    if not numbers or numbers != {str(k) for k in range(len(numbers))}:
        raise ValueError("the parts of the combination are not numbered consecutively")
    return len(numbers)


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
    check_layout(kind, settings, sizes, n_features)
    if kind == CombinationScorer.kind:
        return _combination(settings, arrays, n_features)
    if kind == ViewedScorer.kind:
        return _viewed(settings, arrays, n_features)
    for name, array in arrays.items():
        _require_numbers(kind, name, array)
    if set(settings) != set(_SETTINGS.get(kind, ())):
        raise ValueError(f"a {kind} scorer does not have the settings {', '.join(settings)}")
    if kind == "kernel":
        return KernelScorer(_kernel(**settings), arrays["points"], arrays["weights"])
    if kind == "trees":
        return _trees(settings["base"], arrays, n_features)
    if kind == "additive":
        return _additive(arrays, n_features)
    return LinearScorer(**arrays) if kind == "linear" else FourierScorer(**arrays)


def _combination(
    settings: Mapping[str, Any], arrays: Arrays, n_features: int | None
) -> CombinationScorer:
    for name in CombinationScorer.layout:
        _require_numbers(CombinationScorer.kind, name, arrays[name])
    if not _is_number(settings.get("base")) or (arrays["smoothings"] < 0).any():
        raise ValueError("the combination has no finite base, or a smoothing below 0")
    parts = []
    for k, factor in enumerate(arrays["factors"].tolist()):
        of_this = of_part(k, settings)
        scorer = restore(of_this.pop("scorer"), of_this, of_part(k, arrays), n_features)
        parts.append(Part(scorer, factor, float(arrays["smoothings"][k])))
    known = sum(len(of_part(k, settings)) for k in (*range(len(parts)), "member"))
    if len(settings) > 1 + known:
        raise ValueError("the combination has settings that belong to none of its parts")
    return CombinationScorer(tuple(parts), float(settings["base"]), members_of(settings))


def _viewed(settings: Mapping[str, Any], arrays: Arrays, n_features: int | None) -> ViewedScorer:
    columns, fills = arrays["columns"], arrays["fills"]
    for name in ("factors", "shifts"):
        _require_numbers(ViewedScorer.kind, name, arrays[name])
    if np.isinf(fills).any() or (np.abs(fills) > LARGEST).any() or (arrays["factors"] < 0).any():
        raise ValueError("a view has limits that are not finite or are reversed")
    if (columns < 0).any() or (n_features is not None and (columns >= n_features).any()):
        raise ValueError("a view refers to columns that do not exist")
    inner = of_inner(settings)
    if len(inner) < len(settings):
        raise ValueError("a view has settings that belong to no scorer")
    scorer = restore(inner.pop("scorer"), inner, of_inner(arrays), len(columns))
    return ViewedScorer(scorer, View(*(arrays[name] for name in ViewedScorer.layout)))


def _require_numbers(kind: str, name: str, array: NDArray[Any]) -> None:
    # A threshold may lie beyond all numbers: such a node parts known values from missing ones.
    beyond = kind == "trees" and name == "threshold"
    known = ~np.isnan(array) if beyond else is_computable(array)
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
