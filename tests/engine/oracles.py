"""Reference definitions that several tests compare the engine's results with."""

import numpy as np

from aucstudio.engine import roc


def rank_pauc(y, score, alpha=0.0, beta=1.0):
    """Return sum_ij g_j [1(s_i > v_(j)) + 1/2 1(s_i = v_(j))] / (m n (beta - alpha)).

    It is the normalised partial AUC by rank weights, which training uses. It differs from the
    trapezoid area only where a bound falls inside a tie of positives and negatives.
    """
    positive, score = np.asarray(y) == np.max(y), np.asarray(score)
    s, t = score[positive], np.sort(score[~positive])[::-1]
    g = roc.rank_weights(len(t), alpha, beta)
    above = np.searchsorted(np.sort(s), t, "left") + np.searchsorted(np.sort(s), t, "right")
    return float(g @ (1 - above / (2 * len(s))) / g.sum())
