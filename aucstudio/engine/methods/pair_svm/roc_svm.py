"""ROC-SVM: the pair hinge loss with an adjustable margin."""

from __future__ import annotations

from typing import ClassVar

from aucstudio.engine.methods.pair_svm._training import PairSVM
from aucstudio.engine.methods.settings import POSITIVE
from aucstudio.engine.params import param
from aucstudio.engine.weighted import WeighsRows


class ROCSVM(WeighsRows, PairSVM):
    """AUC-SVM with an adjustable margin; only the ratio of C to the margin changes a ranking.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, margin - (f(x_i) - f(z_j)))`` over the pairs used,
    f(x) = <w, phi(x)>: all m n of them, or with ``n_neighbors`` those near the border, as in the
    paper.

    The margin is redundant with C: (margin, C) gives ``margin`` times the scores of
    (1, C / margin), so that only C / margin changes a ranking, and margin 1 is AUC-SVM.

    References
    ----------
    Rakotomamonjy (2004), Optimizing area under ROC curve with SVMs.

    Eqs. 3 and 5.

    Use when
    --------
    Reproduces published margins; on most tables AUC-SVM ranks equally well.
    """

    title: ClassVar[str] = "ROC-SVM"
    takes_sparse: ClassVar[bool] = True
    in_words: ClassVar[str] = "Pairwise SVM with adjustable margin"

    margin: float = param(
        1.0,
        "Score difference above which a pair has no loss; redundant with C: only C / ρ matters.",
        unit="units of the score",
        label="Margin",
        symbol="ρ",
        **POSITIVE,
    )

    def _rho(self) -> float:
        return float(self.margin)
