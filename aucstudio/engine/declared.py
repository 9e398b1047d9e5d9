"""Families, aims and declarations of methods.

Forms, help, the command line, tests and exports follow from the declaration of a method.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
import textwrap
from typing import Any, ClassVar

from aucstudio.engine.cost import NUMBER, Cost, Work, cost_of
from aucstudio.engine.params import Param, declared_params, method_entries

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


_PER_STORED = 1.5  # numbers that one of a sparse matrix takes the place of
_VECTORS = 100  # as long as the features are many: planes, gradients
_SECTION = re.compile(r"^([A-Z][a-z ]+)\n-+\n", re.MULTILINE)
_SENTENCES = {"References": "source", "Use when": "use_when"}


class Declared:
    """A method as it is declared, by ``methods.toml``, its docstring and class attributes.

    Attributes
    ----------
    key : str
        The method's id: the class's name, with the hyphens that ``methods.toml`` has.
    title, family : str
    in_words : str
        The title for readers who do not know the name.
    summary : str
        What it does: the first line of the docstring.
    source : str
        Where it comes from: the first paragraph of the docstring's References.
    use_when : str
        One or two sentences on when the method suits: the docstring's section of that name.
    trains_for : str
        A key of :data:`AIMS`.
    shape : str
        What a scorer is made of, where it takes no kernel.
    takes_weights : bool
        Whether rows may weigh differently; see :class:`~aucstudio.engine.base.WeighsRows`.
    weights_differ : str
        Why a row of weight 2 is not exactly two equal rows, as the end of a sentence; empty where
        it is.
    takes_sparse : bool
        Whether rows may be a sparse matrix (CSR) that stays one, at some settings; with a kernel
        those of the linear one.
    takes_missing : bool
        Whether rows may hold NaN for a value that is not known.
    as_given : bool
        Whether the method takes original values, not standardised ones.
    leaves_pairs_out : bool
        Whether :meth:`leave_pair_out` knows a closed form.
    adds_up : bool
        Whether :meth:`fit_blocks` can train on rows that come in blocks.
    memorises : bool
        Whether training rows are ranked nearly perfectly as a matter of course.
    solves : str
        The name of the problem whose objective this is, by which verification
        (:mod:`aucstudio.engine.verification`) solves it again; empty where no other way is known.
    one_sided : bool
        Whether the classes play different parts, so that training for the other one does not
        just reverse the ranking.
    averages_trees : bool
        Whether a score is the mean of the votes of ``n_trees`` trees, within [0, 1].
    follows_order : bool
        Whether the order of the training rows decides with what comes out.
    counts_rows : bool
        Whether every row twice is another problem, as where costs add up over the rows.
    in_parts : bool
        Whether a fit makes independent parts by ``Context.spread``, named by pairs of what is
        trained and a fold, and takes as ``kept`` what came of them elsewhere.
    descends : bool
        Whether steps lower the objective; False where it is a mean over what was made so far,
        which steadies instead.
    wants_margin : bool
        Whether every pair shall differ by at least 1, or by the setting ``margin``; a
        picture of the differences then shows that line.
    path_setting : str
        The setting along which :meth:`fit_path` shares work, if there is one.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    family: ClassVar[str]
    source: ClassVar[str]
    summary: ClassVar[str]
    in_words: ClassVar[str]
    use_when: ClassVar[str]
    trains_for: ClassVar[str] = "AUC"
    shape: ClassVar[str] = "linear"
    takes_weights: ClassVar[bool] = False
    weights_differ: ClassVar[str] = ""
    takes_sparse: ClassVar[bool] = False
    takes_missing: ClassVar[bool] = False
    as_given: ClassVar[bool] = False
    leaves_pairs_out: ClassVar[bool] = False
    adds_up: ClassVar[bool] = False
    memorises: ClassVar[bool] = False
    solves: ClassVar[str] = ""
    one_sided: ClassVar[bool] = False
    averages_trees: ClassVar[bool] = False
    follows_order: ClassVar[bool] = False
    counts_rows: ClassVar[bool] = False
    in_parts: ClassVar[bool] = False
    descends: ClassVar[bool] = True
    wants_margin: ClassVar[bool] = False
    path_setting: ClassVar[str] = ""

    @classmethod
    def read_declaration(cls) -> None:
        """Set what follows from the class's name and the docstring; unless it is inherited."""
        text = vars(cls).get("__doc__")
        if not isinstance(text, str):
            return
        cls.__doc__ = MethodText(text)  # type: ignore[assignment]
        for key in method_entries():
            if key.replace("-", "") == cls.__name__.lower():
                cls._declare(key, text)

    @classmethod
    def _declare(cls, key: str, text: str) -> None:
        cls.key = key
        for name, fact in method_entries()[key].items():
            if name != "module":
                setattr(cls, name, fact)
        cls.summary = text.partition("\n")[0].strip()
        _, *sections = _SECTION.split(inspect.cleandoc(text))
        for name, content in zip(sections[::2], sections[1::2], strict=True):
            if name in _SENTENCES:
                words = " ".join(content.partition("\n\n")[0].split())
                setattr(cls, _SENTENCES[name], words)
        cls.source = cls.source.removesuffix(".")

    @classmethod
    def full_title(cls) -> str:
        """Return the method in words with its title, unless the words contain it."""
        return cls.in_words if cls.title in cls.in_words else f"{cls.in_words} ({cls.title})"

    @classmethod
    def weights_kind(cls) -> str:
        """Return how the method takes row weights: ``exact``, ``approximate`` or ``none``."""
        if not cls.takes_weights:
            return "none"
        return "approximate" if cls.weights_differ else "exact"

    @classmethod
    def weights_words(cls) -> str:
        """Return a sentence on how the method takes row weights."""
        return {
            "none": "No row weights: every row counts once.",
            "exact": "Row weights are exact: a row of weight 2 counts as two equal rows.",
            "approximate": "Row weights are approximate: a row of weight 2 does not count exactly "
            f"as two equal rows. The reason: {cls.weights_differ}.",
        }[cls.weights_kind()]

    @classmethod
    def shape_words(cls) -> str:
        """Return what a scorer of the method is made of: ``linear or kernel``."""
        declared = declared_params(cls)
        if "kernel" in declared:
            return "linear or kernel" if "linear" in declared["kernel"].choices else "kernel"
        return "kernel" if "gamma" in declared else cls.shape

    @classmethod
    def describe(cls) -> dict[str, Any]:
        """Return the method and its settings as plain data."""
        named = ("title", "in_words", "family", "source", "summary", "trains_for", "takes_missing")
        return {
            "id": cls.key,
            **{name: getattr(cls, name) for name in (*named, "use_when")},
            "scorer": cls.shape_words(),
            "weights": cls.weights_kind(),
            "weights_note": cls.weights_words(),
            "parameters": [declared.as_json() for declared in declared_params(cls).values()],
        }

    def check_size(self, positives: int, negatives: int, features: int) -> None:
        """Refuse what would not fit the memory of an ordinary machine; ``fit`` does so itself.

        Raises
        ------
        InvalidSetting
            With what it would take and what to use instead.
        """

    def estimate(self, positives: int, negatives: int, features: int) -> Cost:
        """Estimate memory and time of a fit here, at the present settings.

        Features are taken to lie about 0, as standardised ones do. A method that does not
        override this is taken to copy the table. Its numbers of steps, sweeps and cuts are typical
        ones, measured by ``tests/benchmarks/cost.py``.

        Parameters
        ----------
        positives, negatives, features : int
            Size of the table to train on.
        """
        rows = positives + negatives
        copied = cost_of(rows, float(NUMBER * rows * features), Work())
        return dataclasses.replace(copied, seconds=None)

    def stays_sparse(self) -> bool:
        """Return whether ``_fit`` accepts a scipy sparse matrix (CSR) at the present settings."""
        return self.takes_sparse and getattr(self, "kernel", "linear") == "linear"

    def estimate_sparse(self, positives: int, negatives: int, features: int, stored: float) -> Cost:
        """Estimate memory and time of a fit on sparse rows; see :meth:`estimate`.

        Parameters
        ----------
        positives, negatives, features : int
            Size of the table to train on.
        stored : float
            Numbers in it that are not zero.
        """
        # Each is kept with its place, and a direction has all features.
        filled = math.ceil(_PER_STORED * stored / max(positives + negatives, 1))
        cost = self.estimate(positives, negatives, filled)
        return dataclasses.replace(cost, bytes=cost.bytes + _VECTORS * NUMBER * features)


class MethodText:
    """Docstring of a method with its Parameters section, built on access.

    Not before, because the settings are known only after the class has become a dataclass.
    """

    def __init__(self, text: str) -> None:
        self._text = inspect.cleandoc(text)

    def __get__(self, instance: object, method: type[Declared]) -> str:
        settings = "\n".join(map(_entry, declared_params(method).values()))
        found = _SECTION.search(self._text)
        end = len(self._text) if found is None else found.start()
        weights = "\n".join(textwrap.wrap(method.weights_words(), 99))
        parts = (self._text[:end], weights, f"Parameters\n----------\n{settings}", self._text[end:])
        return "\n\n".join(part.strip() for part in parts if part.strip())


def _entry(declared: Param) -> str:
    default = declared.spell(declared.default)
    kind = declared.allowed() + (f" ({declared.unit})" if declared.unit else "")
    lines = [f"{declared.name} : {kind}; default {default}", f"    {declared.help}"]
    if declared.symbol:
        lines[-1] += f" In papers: {declared.symbol}."
    lines += [f"    {declared.spell(value)}: {text}." for value, text in declared.choices.items()]
    return "\n".join(lines)
