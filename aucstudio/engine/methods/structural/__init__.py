"""Structural support vector machines: the area, and parts of it."""

ORDER = ("svm_auc", "svm_pauc", "svm_pauc_tight", "asvm")
