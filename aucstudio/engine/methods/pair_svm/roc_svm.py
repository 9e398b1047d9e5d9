"""The pair SVM with a margin of choice."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from aucstudio.engine.methods.pair_svm._training import PairSVM
from aucstudio.engine.params import param
from aucstudio.engine.weighted import WeighsRows


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class ROCSVM(WeighsRows, PairSVM):
    """Maximise the AUC through the hinge loss of pairs, with a margin of choice.

    Minimises ``1/2 |w|^2 + C mean_(i,j) max(0, margin - (f(x_i) - f(z_j)))`` over the pairs used,
    f(x) = <w, phi(x)>: all m n of them, or with ``n_neighbors`` those near the border, as in the
    paper.

    The margin is redundant with C: (margin, C) gives ``margin`` times the scores of
    (1, C / margin), so that only C / margin changes a ranking, and margin 1 is AUC-SVM.

    References
    ----------
    Rakotomamonjy (2004), Optimizing area under ROC curve with SVMs; eqs. 3 and 5.
    """

    key: ClassVar[str] = "roc-svm"
    title: ClassVar[str] = "ROC-SVM"
    source: ClassVar[str] = "Rakotomamonjy (2004), Optimizing area under ROC curve with SVMs"
    takes_sparse: ClassVar[bool] = True
    summary: ClassVar[str] = (
        "AUC-SVM with an adjustable margin; only the ratio of C to the margin changes a ranking."
    )
    in_words: ClassVar[str] = "Pairwise SVM with adjustable margin"
    use_when: ClassVar[str] = (
        "To reproduce published margins; on most tables AUC-SVM ranks equally well."
    )

    margin: float = param(
        1.0,
        "Score difference from which a pair costs nothing; redundant with C: only C / ρ matters.",
        unit="units of the score",
        label="Margin",
        symbol="ρ",
        low=0.0,
        low_open=True,
        log=True,
    )

    def _rho(self) -> float:
        return float(self.margin)
