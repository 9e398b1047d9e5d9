"""Regularised least squares, on pairs and on labels."""

ORDER = ("auc_rls", "rls")
