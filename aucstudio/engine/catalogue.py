"""Families, aims and shapes of methods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aucstudio.engine.params import declared_params

if TYPE_CHECKING:
    from aucstudio.engine.base import AUCClassifier

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


def shape_words(method: type[AUCClassifier]) -> str:
    """Return what a scorer of the method is made of: ``linear or kernel``."""
    declared = declared_params(method)
    if "kernel" in declared:
        return "linear or kernel" if "linear" in declared["kernel"].choices else "kernel"
    return "kernel" if "gamma" in declared else method.shape


def describe(method: type[AUCClassifier]) -> dict[str, Any]:
    """Return a method and its settings as plain data."""
    return {
        "id": method.key,
        "title": method.title,
        "in_words": method.in_words,
        "family": method.family,
        "source": method.source,
        "summary": method.summary,
        "trains_for": method.trains_for,
        "scorer": shape_words(method),
        "takes_missing": method.takes_missing,
        "weights": method.weights_kind(),
        "weights_note": method.weights_words(),
        "use_when": method.use_when,
        "parameters": [declared.as_json() for declared in declared_params(method).values()],
    }
