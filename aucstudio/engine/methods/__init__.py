"""The methods, by family: a family is a package, and a method a module of it, named as its id.

Modules whose names begin with an underscore hold what the methods of a family share. Nothing has to
be entered anywhere: what lies in a family is found. In lists families come in the order stated
here, and methods in the ``ORDER`` that their family states; what is not named follows by name.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterable, Iterator

ORDER = (
    "least_squares",
    "pair_svm",
    "structural",
    "boosting",
    "combination",
    "trees",
    "ranking",
    "stochastic",
    "baselines",
)


@functools.cache
def modules() -> dict[str, str]:
    """Name the module of every method, by id; none of them is loaded."""
    return {
        name.replace("_", "-"): f"{__name__}.{family}.{name}"
        for family in _sorted(_names(__path__, packages=True), ORDER)
        for name in _of_family(family)
    }


def _of_family(family: str) -> list[str]:
    package = importlib.import_module(f"{__name__}.{family}")
    return _sorted(_names(package.__path__, packages=False), getattr(package, "ORDER", ()))


def _names(path: Iterable[str], *, packages: bool) -> Iterator[str]:
    for found in pkgutil.iter_modules(path):
        if found.ispkg == packages and not found.name.startswith("_"):
            yield found.name


def _sorted(names: Iterable[str], order: tuple[str, ...]) -> list[str]:
    ranks = {name: rank for rank, name in enumerate(order)}
    return sorted(names, key=lambda name: (ranks.get(name, len(order)), name))
