"""Methods that train for the ROC curve, and the curve itself; usable without any window."""

from __future__ import annotations

from typing import Any

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
from aucstudio.engine.monitor import Callback, Step, Stopped
from aucstudio.engine.params import InvalidSetting, Param, declared_params
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

METHODS: dict[str, type[AUCClassifier]] = {
    method.key: method
    for method in (
        AUCRLS,
        RLS,
        AUCSVM,
        ROCSVM,
        SAUCSVM,
        SVMAUC,
        SVMpAUC,
        SVMpAUCTight,
        ASVM,
        PAUCBoost,
        GreedyPAUC,
        RankBoost,
        AUCSplit,
        RankSVM,
        KernelRankSVM,
        NBAUC,
        RFAUC,
        NSAUC,
        NSVMSGD2,
        NOAM,
        NSOLAM,
        SVM,
        SVM2Norm,
        Logistic,
        GradientBoosting,
    )
}


def describe_methods() -> list[dict[str, Any]]:
    """Give every method and its settings as plain data."""
    return [
        {
            "id": key,
            "title": method.title,
            "family": method.family,
            "source": method.source,
            "summary": method.summary,
            "parameters": [declared.as_json() for declared in declared_params(method).values()],
        }
        for key, method in METHODS.items()
    ]
