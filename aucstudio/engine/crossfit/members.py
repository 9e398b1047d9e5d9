"""Libraries of methods and settings from which a combination is selected.

Members differ in kind rather than in settings: what they get wrong in different ways cancels.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from typing import Any

from aucstudio.engine.params import InvalidSetting, declarations, declared_params

# Beyond so many rows a kernel method would take longer than all others: landmarks replace it.
MOST_KERNEL_ROWS = 4_000
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


def write_list(members: Iterable[Member]) -> str:
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


def library(
    name: str, rows: int, seed: int, features: int, fpr_range: tuple[float, float] = (0.0, 0.1)
) -> list[Member]:
    """List the members for a table of so many rows and features, the most useful ones first.

    Members for the partial AUC are trained for ``fpr_range``.

    ``name`` is "quick", "thorough", or "few": three that train in no time, to try things out; or
    a list as :func:`listed` writes it. See ``libraries.toml``.
    """
    if is_listed(name):
        return read_list(name)
    leaf, root = rows // _ROWS_PER_LEAF, max(1, math.isqrt(features))
    shape = {"leaf": max(1, leaf), "leaf_of_3": max(3, leaf), "third_of_leaf": max(3, leaf) // 3}
    ends = ",".join(str(float(end)) for end in fpr_range)
    small = rows <= MOST_KERNEL_ROWS
    holds = {"small": small, "large": not small, "all": max(1, features) != root}
    holds["third"] = max(1, features // 3) != root
    parts = {"few": ("few",), "thorough": ("quick", "more")}
    members = []
    for part in parts.get(name, ("quick",)):
        for block in declarations("crossfit", "libraries.toml")[part]:
            if all(holds[word] for word in block.get("when", "").split()):
                seeds = {"seed": seed, "other_seed": seed + 1}
                members += read_list(block["members"].format(range=ends, **seeds, **shape))
    return members
