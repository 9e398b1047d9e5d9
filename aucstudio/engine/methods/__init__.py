"""The methods: one package per family, one module per method.

Modules whose names begin with an underscore hold what the methods of a family share. Nothing has to
be entered anywhere: what lies in a family is found. In lists families and methods come in the order
stated here; what is not named follows by name.
"""

from __future__ import annotations

import functools
import pkgutil
from collections.abc import Iterable

ORDER = {
    "least_squares": "auc_rls rls",
    "pair_svm": "auc_svm roc_svm sauc_svm",
    "structural": "svm_auc svm_pauc svm_pauc_tight asvm",
    "boosting": "pauc_boost rankboost",
    "combination": "",
    "trees": "",
    "ranking": "rank_svm kernel_rank_svm scaled_rank_svm nbauc rf_auc",
    "stochastic": "nsauc nsvmsgd2 noam nsolam",
    "baselines": "svm svm_2norm logistic additive_logistic gradient_boosting random_forest "
    "extra_trees marker",
}


@functools.cache
def modules() -> dict[str, str]:
    """Name the module of every method, by id; none of them is loaded."""
    return {
        name.replace("_", "-"): f"{__name__}.{family}.{name}"
        for family in _found(__path__, list(ORDER), packages=True)
        for name in _found(
            [f"{path}/{family}" for path in __path__],
            ORDER.get(family, "").split(),
            packages=False,
        )
    }


def _found(paths: Iterable[str], order: list[str], *, packages: bool) -> list[str]:
    names = [found.name for found in pkgutil.iter_modules(paths) if found.ispkg == packages]
    known = {name: rank for rank, name in enumerate(order)}
    public = {name for name in names if not name.startswith("_")}
    return sorted(public, key=lambda name: (known.get(name, len(order)), name))
