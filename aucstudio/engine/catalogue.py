"""Families, aims and modules of methods."""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from typing import Any

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


@functools.cache
def declarations(*path: str) -> dict[str, Any]:
    """Read a TOML file of the engine."""
    file = importlib.resources.files("aucstudio.engine").joinpath(*path)
    return tomllib.loads(file.read_text("utf-8"))


def entries() -> dict[str, dict[str, Any]]:
    """Return what ``methods.toml`` has of every method, by id, in the order of a list."""
    return declarations("methods.toml")


def module_of(method: str) -> str:
    """Return the module of a method, which is not loaded for that.

    Raises
    ------
    KeyError
        For an unknown method.
    """
    return f"aucstudio.engine.methods.{entries()[method]['module']}"


def method_keys() -> list[str]:
    """List the methods by their ids."""
    return list(entries())


def facts_of(method: str) -> dict[str, Any]:
    """Return what ``methods.toml`` declares of a method but its module."""
    return {name: fact for name, fact in entries()[method].items() if name != "module"}
