"""Libraries of methods and settings from which a combination is selected.

Members differ in kind rather than in settings: what they get wrong in different ways cancels.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from aucstudio.engine.params import InvalidSetting, declared_params

# Beyond so many rows a kernel method would take longer than all others: landmarks replace it.
_MOST_KERNEL_ROWS = 4_000
# Leaves grow with the table, so that forests do not outgrow it.
_ROWS_PER_LEAF = 2_000


@dataclasses.dataclass(frozen=True)
class Member:
    """A method with settings.

    Attributes
    ----------
    method : str
        Its id.
    params : tuple of (name, value)
        The settings that differ from the defaults.
    """

    method: str
    params: tuple[tuple[str, Any], ...]

    @classmethod
    def of(cls, method: str, **params: Any) -> Member:
        """Name a method and the settings that differ from the defaults."""
        return cls(method, tuple(params.items()))

    @property
    def text(self) -> str:
        """Id and settings, as :func:`read_list` reads them."""
        from aucstudio.engine import METHODS

        known = declared_params(METHODS[self.method])
        return " ".join([self.method, *(f"{n}={known[n].spell(v)}" for n, v in self.params)])


def titles(members: Sequence[Member]) -> dict[Member, str]:
    """Name members: the method and the settings that distinguish it."""
    from aucstudio.engine import METHODS

    named = {}
    for member in members:
        method = METHODS[member.method]
        others = [dict(o.params) for o in members if o.method == member.method and o != member]
        differing = [
            (n, v)
            for n, v in member.params
            if n != "random_state" and any(o.get(n) != v for o in others)
        ]
        # One setting is enough where no other member shares its value.
        alone = [(n, v) for n, v in differing if all(o.get(n) != v for o in others)]
        labels = declared_params(method)
        telling = [f"{labels[n].label.lower()} {_word(v)}" for n, v in alone[-1:] or differing]
        named[member] = ", ".join([method.title, *telling])
    return named


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def listed(members: Iterable[Member]) -> str:
    """Write a list of members as one text: ``logistic C=0.1; rankboost``."""
    return "; ".join(member.text for member in members)


def read_list(text: str) -> list[Member]:
    """Read what :func:`listed` wrote.

    Raises
    ------
    InvalidSetting
        If a method or a setting is unknown, or a value out of range.
    """
    from aucstudio.engine import METHODS

    members = []
    for part in text.split(";"):
        method, *settings = part.split() or [""]
        if method not in METHODS or method == "auc-ensemble":
            raise InvalidSetting("library", f"there is no member {method!r}")
        known, params = declared_params(METHODS[method]), {}
        for setting in settings:
            name, _, value = setting.partition("=")
            if name not in known:
                raise InvalidSetting("library", f"{method} has no setting {name!r}")
            params[name] = known[name].parse(value)
        members.append(Member.of(method, **params))
    return members


def is_listed(text: object) -> bool:
    """Return whether it lists existing members rather than naming a library."""
    try:
        return isinstance(text, str) and bool(read_list(text))
    except InvalidSetting:
        return False


def library(name: str, rows: int, seed: int, features: int) -> list[Member]:
    """List the members for a table of so many rows and features, the most useful ones first.

    ``name`` is "quick", "thorough", or "few": three that train in no time, to try things out; or
    a list as :func:`listed` writes it.
    """
    if is_listed(name):
        return read_list(name)
    if name == "few":
        return [Member.of("logistic"), Member.of("auc-rls"), Member.of("rankboost", n_rounds=20)]
    members = list(_quick(rows, seed, features))
    if name == "thorough":
        members += _more(rows, seed)
    return members


def _quick(rows: int, seed: int, features: int) -> Iterator[Member]:
    leaf = max(3, rows // _ROWS_PER_LEAF)
    forest = {"n_trees": 150, "min_samples_leaf": leaf, "random_state": seed}
    yield Member.of("gradient-boosting", learning_rate=0.05, max_iter=200, max_leaf_nodes=8)
    yield Member.of("gradient-boosting", learning_rate=0.1, max_iter=200, max_leaf_nodes=3)
    yield Member.of("random-forest", **forest, class_weight="balanced")
    yield Member.of("extra-trees", **forest, class_weight="balanced")
    yield Member.of("extra-trees", **{**forest, "min_samples_leaf": leaf // 3})
    yield Member.of("logistic", C=1.0, class_weight="balanced")
    if rows <= _MOST_KERNEL_ROWS:
        yield Member.of("additive-logistic", class_weight="balanced")
        # Where most columns are noise, a square root of them seldom contains an informative one.
        # (A random forest of a third takes longer than all others together on wide tables.)
        deep = {**forest, "min_samples_leaf": 1}
        at_split = {"sqrt": math.isqrt(features), "third": features // 3, "all": features}
        for share in ("third", "all"):
            if max(1, at_split[share]) != max(1, at_split["sqrt"]):  # else these are grown above
                yield Member.of("extra-trees", **deep, feature_share=share)
        yield Member.of("scaled-rank-svm", C=10.0, random_state=seed)
        yield Member.of("kernel-rank-svm", C=100.0)
        yield Member.of("scaled-rank-svm", C=1000.0, random_state=seed)
        yield Member.of("auc-rls", kernel="rbf", regularization=0.01)
        yield Member.of("svm", kernel="rbf", C=1.0, class_weight="balanced")
    else:
        yield Member.of("rankboost", n_rounds=200)
        yield Member.of("nbauc", C=1000.0, random_state=seed)


def _more(rows: int, seed: int) -> Iterator[Member]:
    leaf = max(1, rows // _ROWS_PER_LEAF)
    forest = {"n_trees": 300, "min_samples_leaf": leaf, "random_state": seed + 1}
    yield Member.of("gradient-boosting", learning_rate=0.1, max_iter=100)
    yield Member.of("gradient-boosting", learning_rate=0.03, max_iter=500, max_leaf_nodes=8)
    yield Member.of("random-forest", **forest)
    yield Member.of("random-forest", **forest, feature_share="third")
    yield Member.of("logistic", C=0.01, class_weight="balanced")
    yield Member.of("svm-auc", C=10.0)
    yield Member.of("svm-pauc", C=10.0)
    if rows <= _MOST_KERNEL_ROWS:
        yield Member.of("rankboost", n_rounds=200)
        yield Member.of("kernel-rank-svm", C=10.0)
        yield Member.of("kernel-rank-svm", C=1000.0)
        yield Member.of("auc-rls", kernel="rbf", regularization=0.001)
        yield Member.of("svm", kernel="rbf", C=10.0, class_weight="balanced")
    else:
        yield Member.of("extra-trees", **forest, feature_share="third")
        yield Member.of("nbauc", C=100.0, n_landmarks=800, random_state=seed)
        yield Member.of("nbauc", C=10_000.0, n_landmarks=800, random_state=seed)
