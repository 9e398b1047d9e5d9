"""Random forest."""

from __future__ import annotations

from typing import ClassVar

from aucstudio.engine.methods.forest import ForestClassifier


class RandomForest(ForestClassifier):
    """Averages many deep decision trees, each grown on a sample of the rows.

    Minimises in each tree, split by split, the Gini impurity ``2 p(t) (1 - p(t))`` of its leaves,
    rows weighted by c_i; the objective is the mean impurity of the leaves over the rows and trees.
    Each tree sees a bootstrap sample of the rows, each split some of the features.
    The score is the mean of p over the trees.

    Missing values (NaN) are allowed: each split sends them to the better side. Features are scaled
    to [0, 1] for the library, which computes in single precision.

    No optimum is approached and there is no certificate.

    References
    ----------
    Breiman (2001), Random forests; scikit-learn's RandomForestClassifier.

    Use when
    --------
    Strong on most tables with non-linear, mixed features; needs almost no tuning.
    """

    weights_differ: ClassVar[str] = (
        "each tree draws its rows by chance and the rows of a leaf are counted, not weighed"
    )
    title: ClassVar[str] = "Random forest"
    in_words: ClassVar[str] = "Bagged decision trees"
    library: ClassVar[str] = "RandomForestClassifier"
