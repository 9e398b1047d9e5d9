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
    from aucstudio.engine.methods.asvm import ASVM
    from aucstudio.engine.methods.auc_split import AUCSplit
    from aucstudio.engine.methods.baselines import SVM, Logistic
    from aucstudio.engine.methods.boosting import GradientBoosting
    from aucstudio.engine.methods.greedy_pauc import GreedyPAUC
    from aucstudio.engine.methods.least_squares import AUCRLS, RLS
    from aucstudio.engine.methods.nbauc import NBAUC, RFAUC
    from aucstudio.engine.methods.nsauc import NSAUC, NSVMSGD2
    from aucstudio.engine.methods.online import NOAM, NSOLAM
    from aucstudio.engine.methods.pair_svm import AUCSVM, ROCSVM
    from aucstudio.engine.methods.partial_auc import SVMpAUC
    from aucstudio.engine.methods.partial_auc_tight import SVMpAUCTight
    from aucstudio.engine.methods.pauc_boost import PAUCBoost
    from aucstudio.engine.methods.rank_svm import KernelRankSVM, RankSVM
    from aucstudio.engine.methods.rankboost import RankBoost
    from aucstudio.engine.methods.structure import SAUCSVM
    from aucstudio.engine.methods.svm_2norm import SVM2Norm
    from aucstudio.engine.methods.svm_auc import SVMAUC
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
    "auc-rls": ("AUCRLS", "least_squares"),
    "rls": ("RLS", "least_squares"),
    "auc-svm": ("AUCSVM", "pair_svm"),
    "roc-svm": ("ROCSVM", "pair_svm"),
    "sauc-svm": ("SAUCSVM", "structure"),
    "svm-auc": ("SVMAUC", "svm_auc"),
    "svm-pauc": ("SVMpAUC", "partial_auc"),
    "svm-pauc-tight": ("SVMpAUCTight", "partial_auc_tight"),
    "asvm": ("ASVM", "asvm"),
    "pauc-boost": ("PAUCBoost", "pauc_boost"),
    "greedy-pauc": ("GreedyPAUC", "greedy_pauc"),
    "rankboost": ("RankBoost", "rankboost"),
    "auc-split": ("AUCSplit", "auc_split"),
    "rank-svm": ("RankSVM", "rank_svm"),
    "kernel-rank-svm": ("KernelRankSVM", "rank_svm"),
    "nbauc": ("NBAUC", "nbauc"),
    "rf-auc": ("RFAUC", "nbauc"),
    "nsauc": ("NSAUC", "nsauc"),
    "nsvmsgd2": ("NSVMSGD2", "nsauc"),
    "noam": ("NOAM", "online"),
    "nsolam": ("NSOLAM", "online"),
    "svm": ("SVM", "baselines"),
    "svm-2norm": ("SVM2Norm", "svm_2norm"),
    "logistic": ("Logistic", "baselines"),
    "gradient-boosting": ("GradientBoosting", "boosting"),
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
