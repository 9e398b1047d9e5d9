"""Support vector machines over positive-negative pairs."""

ORDER = ("auc_svm", "roc_svm", "sauc_svm")
