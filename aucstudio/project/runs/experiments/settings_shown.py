"""Settings of an experiment for display."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any

from aucstudio.engine import DECLARED
from aucstudio.engine.params import Param, declared_params
from aucstudio.project.runs.experiments.experiment import Experiment
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.tuning import candidates
from aucstudio.project.words import range_words, setting_words

RANGE = "fpr_range"
_LIST = "library"
_NAMED = 2  # members of a list that are named
_CHOICES = {None: "none", "rbf": "Gaussian", "poly": "polynomial"}


@dataclasses.dataclass(frozen=True)
class ShownSetting:
    """One setting of an experiment.

    Attributes
    ----------
    name : str
        Of the parameter.
    title : str
        Its name on the form.
    short : str
        Its symbol, where no other setting of the method has the same; else the title.
    value : str
    is_default : bool
    """

    name: str
    title: str
    short: str
    value: str
    is_default: bool

    def __str__(self) -> str:
        # A setting and its value stay on one line.
        return f"{self.short}\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{self.value}"


def shown_settings(experiment: Experiment) -> list[ShownSetting]:
    """List the settings that mean something for an experiment and were not searched."""
    method, params = DECLARED[experiment.method], experiment.params
    left_out = set(candidates(method, params, 0)[0]) if experiment.tuning is not None else set()
    if experiment.members:  # these were not taken from a list
        left_out.add(_LIST)
    meant = {
        name: declared
        for name, declared in declared_params(method).items()
        if name in params and declared.matters(params) and name not in left_out
    }
    seen = Counter(declared.symbol for declared in meant.values())
    return [
        ShownSetting(
            name,
            declared.label,
            declared.symbol if declared.symbol and seen[declared.symbol] == 1 else declared.label,
            spelled(declared, params[name]),
            params[name] == declared.default,
        )
        for name, declared in meant.items()
    ]


def differing_settings(record: RunRecord) -> str:
    """State in few words what is not a method's default; the FPR range has words of its own."""
    experiment = record.experiment
    told = [
        str(setting)
        for setting in shown_settings(experiment)
        if not setting.is_default and setting.name != RANGE
    ]
    told += experiment.preparation.differing()
    if experiment.tuning is not None:
        found = _chosen(record)
        told.insert(0, f"tuned: {found}" if found else "tuned")
    return ", ".join(told)


def chosen_settings(method: str, params: Mapping[str, Any], hidden: Container[str] = ()) -> str:
    """State in few words which settings of a method are not as usual."""
    known = declared_params(DECLARED[method])
    told = [
        f"{known[name].symbol or known[name].label}\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
        f"{spelled(known[name], tuple(value) if isinstance(value, list) else value)}"
        for name, value in params.items()
        if name in known and name not in hidden and value != known[name].default
    ]
    return ", ".join(told)


def settings_sentence(experiment: Experiment) -> str:
    """Name an experiment's method and its settings."""
    title = DECLARED[experiment.method].title
    told = ", ".join(map(str, shown_settings(experiment)))
    return f"{title}: {told}" if told else title


def spelled(declared: Param, value: Any) -> str:
    """Write the value of a setting for people."""
    if value is None and declared.none:
        return str(declared.none)
    if declared.kind == "range":
        return range_words(value)
    if declared.also is not None and value not in declared.choices:
        names = [_titled(name) for name in str(value).split("; ")]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(names[:_NAMED]) + more
    if declared.kind == "choice":
        return choice_word(value)
    return setting_words(value) if isinstance(value, float) else str(declared.spell(value))


def choice_word(value: Any) -> str:
    """Name one of the values that a setting may have, as the form does."""
    return _CHOICES.get(value, str(value))


def _titled(member: str) -> str:
    """Return a member of a combination, ``auc-rls lam=0.1``, the title of its method."""
    method, blank, settings = member.partition(" ")
    return (DECLARED[method].title if method in DECLARED else method) + blank + settings


def _chosen(record: RunRecord) -> str:
    """Describe what a search chose.

    Of several searches, one a split, each may have chosen another.
    """
    if len(record.searches) != 1:
        return ""
    known = declared_params(DECLARED[record.experiment.method])
    chosen: Sequence[tuple[str, Any]] = list(record.searches[0].chosen.items())
    return ", ".join(
        f"{known[n].symbol or known[n].label}\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
        f"{spelled(known[n], value)}"
        for n, value in chosen
    )
