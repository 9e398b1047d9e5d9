"""Random forest by scikit-learn, as a baseline and a member of combinations."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ClassVar

from aucstudio.engine.methods.forest import ForestClassifier
from aucstudio.engine.types import Array

if TYPE_CHECKING:
    from sklearn.ensemble import RandomForestClassifier


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class RandomForest(ForestClassifier):
    """Random forest by scikit-learn's ``RandomForestClassifier``.

    Minimises in each tree, split by split, the Gini impurity ``2 p(t) (1 - p(t))`` of its leaves,
    rows weighted by c_i; the objective is the mean impurity of the leaves over the rows and trees.
    Each tree sees a bootstrap sample of the rows, each split some of the features.
    The score is the mean of p over the trees.

    Rows may have missing values (NaN): each split sends them to the better side. Features are put
    on [0, 1] before they go to the library, which computes in single precision.

    There is no optimum to approach, hence no certificate.

    References
    ----------
    Breiman (2001), Random forests.
    """

    key: ClassVar[str] = "random-forest"
    weights_differ: ClassVar[str] = (
        "each tree draws its rows by chance and the rows of a leaf are counted, not weighed"
    )
    title: ClassVar[str] = "Random forest"
    source: ClassVar[str] = "Breiman (2001), Random forests; scikit-learn's RandomForestClassifier"
    summary: ClassVar[str] = (
        "Averages many deep decision trees, each grown on a sample of the rows."
    )
    in_words: ClassVar[str] = "Bagged decision trees"
    use_when: ClassVar[str] = (
        "Strong on most tables with non-linear, mixed features; needs almost no tuning."
    )

    def _grower(self, weights: Array) -> RandomForestClassifier:
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(**self._library_settings(weights))
