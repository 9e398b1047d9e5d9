"""Settings of an experiment for display."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any

from aucstudio.engine import DECLARED
from aucstudio.engine.crossfit.members import is_listed, read_list
from aucstudio.engine.params import Param, declared_params
from aucstudio.notices import text
from aucstudio.notices.words import range_words, setting_words
from aucstudio.project import typed
from aucstudio.project.runs.experiment import Experiment
from aucstudio.project.runs.record import RunRecord
from aucstudio.project.runs.tuning import candidates

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
        Its label in the form.
    short : str
        Its symbol if no other setting of the method has the same, else the title.
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
    """List the settings of an experiment that have an effect and were not searched."""
    method, params = DECLARED[experiment.method], experiment.params
    left_out = set(candidates(method, params, 0)[0]) if experiment.tuning is not None else set()
    if experiment.members:  # they are runs, not a list of methods
        left_out.add(_LIST)
    effective = {
        name: declared
        for name, declared in declared_params(method).items()
        if name in params and declared.matters(params) and name not in left_out
    }
    symbols = Counter(declared.symbol for declared in effective.values())
    return [
        ShownSetting(
            name,
            declared.label,
            declared.symbol
            if declared.symbol and symbols[declared.symbol] == 1
            else declared.label,
            setting_text(declared, params[name]),
            params[name] == declared.default,
        )
        for name, declared in effective.items()
    ]


def differing_settings(record: RunRecord) -> str:
    """Return the settings that are not the default as text, without the FPR range."""
    experiment = record.experiment
    texts = [
        str(setting)
        for setting in shown_settings(experiment)
        if not setting.is_default and setting.name != RANGE
    ]
    texts += experiment.preparation.differing()
    if experiment.tuning is not None:
        found = _chosen(record)
        texts.insert(0, f"tuned: {found}" if found else "tuned")
    return ", ".join(texts)


def unfinished_words(record: RunRecord) -> str:
    """State how many of the planned splits have finished; empty if all have."""
    planned = record.planned_splits
    return text("splits_finished", finished=len(record.splits), planned=planned) if planned else ""


def names_with_settings(named: Sequence[tuple[str, RunRecord]]) -> list[str]:
    """Add to names of runs the settings in which runs of one method differ, and what is unfinished.

    Names that a person has chosen stay as they are.
    """
    names, by_method = [name for name, _ in named], dict[str, dict[int, dict[object, str]]]()
    for place, (name, record) in enumerate(named):
        made = record.experiment
        if not made.name and re.fullmatch(rf"{re.escape(made.title)}( \(\d+\))?", name):
            by_method.setdefault(made.method, {})[place] = _by_name(record)
    for alike in by_method.values():
        every = dict.fromkeys(itertools.chain.from_iterable(alike.values()))
        differing = [key for key in every if len({one.get(key) for one in alike.values()}) > 1]
        for place, settings in alike.items():
            known = [settings[key] for key in differing if settings.get(key)]
            unfinished = unfinished_words(named[place][1])
            if words := ", ".join(filter(None, (*known, unfinished))):
                title, _, number = names[place].removesuffix(")").partition(" (")
                names[place] = f"{title} ({', '.join(filter(None, (number, words)))})"
    return names


def _by_name(record: RunRecord) -> dict[object, str]:
    made = record.experiment
    settings: dict[object, str] = {one.name: str(one) for one in shown_settings(made)}
    splitting: dict[object, str] = dict(enumerate(made.validation.describe().split(", ")))
    prepared = ", ".join(made.preparation.differing())
    return settings | {"preparation": prepared, "tuned": _chosen(record)} | splitting


def chosen_settings(method: str, params: Mapping[str, Any], hidden: Container[str] = ()) -> str:
    """Return the settings of a method that are not the default as text."""
    known = declared_params(DECLARED[method])
    return _assignments(
        method,
        {
            name: value
            for name, value in typed.with_tuples(params).items()
            if name in known and name not in hidden and value != known[name].default
        },
    )


def _assignments(method: str, settings: Mapping[str, Any]) -> str:
    known = declared_params(DECLARED[method])
    return ", ".join(
        f"{known[name].symbol or known[name].label}\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
        f"{setting_text(known[name], value)}"
        for name, value in settings.items()
    )


def settings_sentence(experiment: Experiment) -> str:
    """Return the method of an experiment and its settings as text."""
    title = DECLARED[experiment.method].title
    settings = ", ".join(map(str, shown_settings(experiment)))
    return f"{title}: {settings}" if settings else title


def setting_text(declared: Param, value: Any) -> str:
    """Format the value of a setting for people."""
    if value is None and declared.none:
        return str(declared.none)
    if declared.kind == "range":
        return range_words(value)
    if declared.also is not None and value not in declared.choices:
        names = [member_words(name) for name in str(value).split("; ")]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return ", ".join(names[:_NAMED]) + more
    if declared.kind == "choice":
        return choice_word(value)
    return setting_words(value) if isinstance(value, float) else str(declared.spell(value))


def choice_word(value: Any) -> str:
    """Return the label of a choice in the form."""
    return _CHOICES.get(value, str(value))


def member_words(member: str) -> str:
    """Write a member such as ``auc-rls lam=0.1`` in the words of the form."""
    if not is_listed(member):
        return member
    (one,) = read_list(member)
    return method_words(one.method, dict(one.params))


def method_words(
    method: str, params: Mapping[str, Any], hidden: Container[str] = ("random_state", RANGE)
) -> str:
    """Write a method and its settings that are not the default in the words of the form."""
    settings = chosen_settings(method, params, hidden)
    return DECLARED[method].title + (f" ({settings})" if settings else "")


def _chosen(record: RunRecord) -> str:
    """Return the chosen settings as text; empty if there is a search for each split."""
    if len(record.searches) != 1:
        return ""
    return _assignments(record.experiment.method, record.searches[0].chosen)
