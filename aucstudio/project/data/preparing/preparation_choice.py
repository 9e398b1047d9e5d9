"""Preprocessing options."""

from __future__ import annotations

import dataclasses
from typing import Any

from aucstudio.notices.words import suggestion
from aucstudio.project.data.schema import bare
from aucstudio.project.errors import input_error

MEDIAN, MEAN, MOST_FREQUENT = "median", "mean", "most-frequent"
STANDARD, ROBUST, MIN_MAX, NONE = "standard", "robust", "min-max", "none"
RANKS, NORMAL_RANKS = "quantile", "quantile-normal"
FREQUENCY = "frequency"

IMPUTE = {
    MEDIAN: "median for missing values",
    MEAN: "mean for missing values",
    MOST_FREQUENT: "most frequent number for missing values",
}
SCALE = {
    STANDARD: "standardised",
    ROBUST: "scaled by median and quartiles",
    RANKS: "ranks from 0 to 1",
    NORMAL_RANKS: "ranks as normal deviates",
    MIN_MAX: "scaled from 0 to 1",
    NONE: "not scaled",
}
# Used for sparse rows, where nothing is subtracted.
SCALE_ABOUT_ZERO = {
    STANDARD: "divided by the standard deviation",
    ROBUST: "divided by the distance of the quartiles",
    MIN_MAX: "divided by the range",
    NONE: "not scaled",
}
MANY_LEVELS = {
    MOST_FREQUENT: "the most frequent levels of categories with many",
    FREQUENCY: "categories with many levels by frequency",
}
_CHOICES = {"impute": IMPUTE, "scale": SCALE, "many_levels": MANY_LEVELS}


@dataclasses.dataclass(frozen=True)
class PreparationChoice:
    """Options for missing values, scales of numbers and rare levels.

    Attributes
    ----------
    impute : {"median", "mean", "most-frequent"}
        Replacement of missing numbers, for methods that do not accept them.
    scale : {"standard", "robust", "quantile", "quantile-normal", "min-max", "none"}
    indicators : bool
        Whether each number column with missing values gets a column that marks them.
    rare : float
        Levels of fewer training rows are merged: below 1 a share of the rows, from 1 on a count;
        0 merges none.
    many_levels : {"most-frequent", "frequency"}
        Code of a category with more than 100 levels: the most frequent levels, or each level's
        share of the training rows.
    """

    impute: str = MEDIAN
    scale: str = STANDARD
    indicators: bool = False
    rare: float = 0.0
    many_levels: str = MOST_FREQUENT

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                raise input_error(
                    "preparation_unknown",
                    setting=name,
                    name=name.replace("_", " "),
                    known=", ".join(known),
                    value=value,
                    hint=suggestion(str(value), known),
                )
        object.__setattr__(self, "rare", float(self.rare))
        if not (0 <= self.rare < 1 or (1 <= self.rare < 1e15 and self.rare.is_integer())):
            raise input_error("rare_invalid", rare=self.rare)

    @property
    def makes_ranks(self) -> bool:
        """Whether numbers become ranks."""
        return self.scale in (RANKS, NORMAL_RANKS)

    def fewest(self, rows: int) -> float:
        """Return the least number of rows of a level that is not rare."""
        return self.rare * rows if self.rare < 1 else self.rare

    @property
    def unit(self) -> str:
        """Short name of the unit of prepared numbers."""
        return "sd" if self.scale == STANDARD else "scaled"

    @property
    def in_units(self) -> str:
        """Return the unit of prepared numbers."""
        if self.scale == STANDARD:
            return "in standard deviations of the training rows"
        return f"{SCALE[self.scale]}, by the training rows"

    @property
    def fill(self) -> str:
        """Name of the replacement of missing numbers."""
        return IMPUTE[self.impute].removesuffix(" for missing values")

    def describe(self, *, keep_gaps: bool = False, keep_zeros: bool = False) -> str:
        """Describe the choice in one line.

        Parameters
        ----------
        keep_gaps : bool
            Whether the method accepts missing values.
        keep_zeros : bool
            Whether rows stay sparse.
        """
        always = {"impute": IMPUTE[self.impute], "scale": SCALE[self.scale]} | self._words()
        if keep_gaps:
            always["impute"] = "missing values kept"
        if keep_zeros:
            always["scale"] = f"{SCALE_ABOUT_ZERO[self.scale]}, zeros stay zero"
        return ", ".join(always.values())

    def differing(self) -> list[str]:
        """Describe what differs from the defaults."""
        return list(self._words().values())

    def _words(self) -> dict[str, str]:
        least = f"{100 * self.rare:g} %" if self.rare < 1 else f"{self.rare:,.0f} rows"
        words = {
            "impute": IMPUTE[self.impute],
            "scale": SCALE[self.scale],
            "indicators": "missing values marked",
            "rare": f"levels below {least} merged",
            "many_levels": MANY_LEVELS[self.many_levels],
        }
        return {name: words[name] for name in self.given()}

    def given(self) -> dict[str, Any]:
        """Return what differs from the defaults, as plain data."""
        document: dict[str, Any] = bare(self)
        return document


USUAL = PreparationChoice()
