"""Families, aims and modules of methods."""

from __future__ import annotations

FAMILIES = {
    "least squares": "Least squares in closed form",
    "pair SVMs": "Support vector machines on pairs",
    "partial AUC": "For part of the ROC curve",
    "RankSVM": "Ranking machines for many rows",
    "stochastic": "Stochastic training for very many rows",
    "boosting and trees": "Boosting and trees",
    "combination": "Combinations of methods",
    "baselines": "Baselines for comparison",
}
"""Every family, in the order of a list, and its title in words."""

AIMS = {
    "AUC": "the area under the whole ROC curve",
    "pAUC": "the area under the ROC curve in a range of false-positive rates",
    "low FPR": "the ranking at one low false-positive rate",
    "accuracy": "accuracy of the predicted class",
    "labels": "the labels themselves, as numbers",
    "probabilities": "the probability of the positive class",
}
"""What methods train for, and what that means."""

MODULES = {
    "least_squares": "auc-rls rls",
    "pair_svm": "auc-svm roc-svm sauc-svm",
    "structural": "svm-auc svm-pauc svm-pauc-tight",
    "asvm": "asvm",
    "pauc_boost": "pauc-boost",
    "rankboost": "rankboost",
    "auc_ensemble": "auc-ensemble",
    "greedy_pauc": "greedy-pauc",
    "auc_split": "auc-split",
    "rank_svm": "rank-svm kernel-rank-svm scaled-rank-svm",
    "nbauc": "nbauc rf-auc",
    "stochastic": "nsauc nsvmsgd2 noam nsolam",
    "svm": "svm svm-2norm",
    "logistic": "logistic additive-logistic",
    "gradient_boosting": "gradient-boosting",
    "forest": "random-forest extra-trees",
    "marker": "marker",
}
"""The methods of each module of :mod:`aucstudio.engine.methods`, in the order of a list.

A method's class has the name of the method, but for hyphens and capitals.
"""


def module_of(method: str) -> str:
    """Return the module of a method, which is not loaded for that.

    Raises
    ------
    KeyError
        For an unknown method.
    """
    for module, keys in MODULES.items():
        if method in keys.split():
            return f"aucstudio.engine.methods.{module}"
    raise KeyError(method)


def method_keys() -> list[str]:
    """List the methods by their ids."""
    return [key for keys in MODULES.values() for key in keys.split()]
