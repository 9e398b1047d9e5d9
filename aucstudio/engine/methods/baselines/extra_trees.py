"""Extremely randomised trees."""

from __future__ import annotations

from typing import ClassVar

from aucstudio.engine.methods.forest import ForestClassifier


class ExtraTrees(ForestClassifier):
    """Averages many deep decision trees with random thresholds.

    Minimises in each tree, split by split, the Gini impurity ``2 p(t) (1 - p(t))`` of its leaves,
    rows weighted by c_i; the objective is the mean impurity of the leaves over the rows and trees.
    Each split takes the best of some thresholds drawn at random, one for each feature considered.
    The score is the mean of p over the trees.

    Missing values (NaN) are allowed: each split sends them to the better side. Features are scaled
    to [0, 1] for the library, which computes in single precision.

    No optimum is approached and there is no certificate.

    References
    ----------
    Geurts, Ernst, Wehenkel (2006), Extremely randomized trees; scikit-learn's
    ExtraTreesClassifier.

    Use when
    --------
    Smoother than a random forest and faster to train; a good partner in a combination.
    """

    weights_differ: ClassVar[str] = "the rows of a leaf are counted, not weighed"
    title: ClassVar[str] = "Extra trees"
    in_words: ClassVar[str] = "Randomised decision trees"
    library: ClassVar[str] = "ExtraTreesClassifier"
