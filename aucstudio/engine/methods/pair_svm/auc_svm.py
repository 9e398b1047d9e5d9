"""AUC-SVM: the hinge loss of positive-negative pairs."""

from __future__ import annotations

from typing import ClassVar

from aucstudio.engine.methods.pair_svm._training import PairSVM
from aucstudio.engine.weighted import WeighsRows


class AUCSVM(WeighsRows, PairSVM):
    """Maximises the margin between positives and negatives over all pairs (pairwise hinge loss).

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, 1 - (f(x_i) - f(z_j)))`` over the pairs used,
    f(x) = <w, phi(x)>: all m n of them, or with ``n_neighbors`` the k nearest negatives of the
    positives near the border. ``objective_`` is this value for the scorer returned.

    Papers write a constant for each pair: C_paper = C / (number of pairs).

    The dual is solved by an interior point or, for pairs of neighbours under a kernel and for all
    pairs of many rows, by coordinate descent; neither forms the pair Gram matrix. Cutting planes
    solve the same problem, to 1e-4 of the objective at the finest, on sparse rows and, with the
    linear kernel, on more than 5,000,000 pairs.

    Attributes
    ----------
    support_pairs_ : tuple of two index arrays or None
        Rows (positive, negative) of the pairs with the largest multipliers, at most 5,000, all
        above a thousandth of the bound; None after cutting planes.

    Raises
    ------
    InvalidSetting
        If the pairs, or the kernel matrix, would not fit in memory.

    References
    ----------
    Brefeld and Scheffer, AUC maximizing support vector learning (2005), as stated in the paper on
    structure-embedded AUC-SVM.

    Use when
    --------
    Small and medium tables where the hardest pairs should decide. With many rows, compare each
    positive with its nearest negatives only.
    """

    title: ClassVar[str] = "AUC-SVM"
    takes_sparse: ClassVar[bool] = True
    in_words: ClassVar[str] = "Pairwise SVM"
