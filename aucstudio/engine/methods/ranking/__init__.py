"""The squared hinge of all pairs by Newton's method."""

ORDER = ("rank_svm", "kernel_rank_svm", "scaled_rank_svm", "nbauc", "rf_auc")
