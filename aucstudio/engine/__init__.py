"""Methods that train for the ROC curve, and the curve itself; usable without any window.

Nothing is loaded before it is asked for: who wants the name of a method, or the area under a
curve, does not wait for the modules of all of them.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from aucstudio.engine.monitor import Callback, Step, Stopped
from aucstudio.engine.params import InvalidSetting, Param, declared_params

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier
    from aucstudio.engine.methods.baselines.estimators import SVM, Logistic
    from aucstudio.engine.methods.baselines.svm_2norm import SVM2Norm
    from aucstudio.engine.methods.boosting.gradient_boosting import GradientBoosting
    from aucstudio.engine.methods.boosting.pauc_boost import PAUCBoost
    from aucstudio.engine.methods.boosting.rankboost import RankBoost
    from aucstudio.engine.methods.combination.greedy_pauc import GreedyPAUC
    from aucstudio.engine.methods.least_squares.estimators import AUCRLS, RLS
    from aucstudio.engine.methods.pair_svm.estimators import AUCSVM, ROCSVM
    from aucstudio.engine.methods.pair_svm.sauc_svm import SAUCSVM
    from aucstudio.engine.methods.ranking.nbauc import NBAUC, RFAUC
    from aucstudio.engine.methods.ranking.rank_svm import KernelRankSVM, RankSVM
    from aucstudio.engine.methods.stochastic.nsauc import NSAUC, NSVMSGD2
    from aucstudio.engine.methods.stochastic.online import NOAM, NSOLAM
    from aucstudio.engine.methods.structural.asvm import ASVM
    from aucstudio.engine.methods.structural.svm_auc import SVMAUC
    from aucstudio.engine.methods.structural.svm_pauc import SVMpAUC
    from aucstudio.engine.methods.structural.svm_pauc_tight import SVMpAUCTight
    from aucstudio.engine.methods.trees.auc_split import AUCSplit
    from aucstudio.engine.restoring import restore
    from aucstudio.engine.scorers import Scorer

__all__ = [
    "ASVM",
    "AUCRLS",
    "AUCSVM",
    "METHODS",
    "NBAUC",
    "NOAM",
    "NSAUC",
    "NSOLAM",
    "NSVMSGD2",
    "RFAUC",
    "RLS",
    "ROCSVM",
    "SAUCSVM",
    "SVM",
    "SVMAUC",
    "AUCClassifier",
    "AUCSplit",
    "Callback",
    "GradientBoosting",
    "GreedyPAUC",
    "InvalidSetting",
    "KernelRankSVM",
    "Logistic",
    "PAUCBoost",
    "Param",
    "RankBoost",
    "RankSVM",
    "SVM2Norm",
    "SVMpAUC",
    "SVMpAUCTight",
    "Scorer",
    "Step",
    "Stopped",
    "declared_params",
    "describe_methods",
    "restore",
]

# Where each method is: its class, and the module of that under ``methods``.
_METHODS = {
    "auc-rls": ("AUCRLS", "least_squares.estimators"),
    "rls": ("RLS", "least_squares.estimators"),
    "auc-svm": ("AUCSVM", "pair_svm.estimators"),
    "roc-svm": ("ROCSVM", "pair_svm.estimators"),
    "sauc-svm": ("SAUCSVM", "pair_svm.sauc_svm"),
    "svm-auc": ("SVMAUC", "structural.svm_auc"),
    "svm-pauc": ("SVMpAUC", "structural.svm_pauc"),
    "svm-pauc-tight": ("SVMpAUCTight", "structural.svm_pauc_tight"),
    "asvm": ("ASVM", "structural.asvm"),
    "pauc-boost": ("PAUCBoost", "boosting.pauc_boost"),
    "greedy-pauc": ("GreedyPAUC", "combination.greedy_pauc"),
    "rankboost": ("RankBoost", "boosting.rankboost"),
    "auc-split": ("AUCSplit", "trees.auc_split"),
    "rank-svm": ("RankSVM", "ranking.rank_svm"),
    "kernel-rank-svm": ("KernelRankSVM", "ranking.rank_svm"),
    "nbauc": ("NBAUC", "ranking.nbauc"),
    "rf-auc": ("RFAUC", "ranking.nbauc"),
    "nsauc": ("NSAUC", "stochastic.nsauc"),
    "nsvmsgd2": ("NSVMSGD2", "stochastic.nsauc"),
    "noam": ("NOAM", "stochastic.online"),
    "nsolam": ("NSOLAM", "stochastic.online"),
    "svm": ("SVM", "baselines.estimators"),
    "svm-2norm": ("SVM2Norm", "baselines.svm_2norm"),
    "logistic": ("Logistic", "baselines.estimators"),
    "gradient-boosting": ("GradientBoosting", "boosting.gradient_boosting"),
}

_MODULES = {name: f"methods.{module}" for name, module in _METHODS.values()} | {
    "AUCClassifier": "base",
    "Scorer": "scorers",
    "restore": "restoring",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


class _Methods(Mapping[str, "type[AUCClassifier]"]):
    """Every method by its id; a class is loaded when it is asked for."""

    def __getitem__(self, key: str) -> type[AUCClassifier]:
        method: type[AUCClassifier] = __getattr__(_METHODS[key][0])
        return method

    def __contains__(self, key: object) -> bool:
        return key in _METHODS

    def __iter__(self) -> Iterator[str]:
        return iter(_METHODS)

    def __len__(self) -> int:
        return len(_METHODS)


METHODS: Mapping[str, type[AUCClassifier]] = _Methods()


def describe_methods() -> list[dict[str, Any]]:
    """Give every method and its settings as plain data."""
    from aucstudio.engine.catalogue import describe

    return [describe(method) for method in METHODS.values()]
