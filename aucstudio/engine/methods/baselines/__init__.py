"""What people use today, on the same splits."""

ORDER = (
    "svm",
    "svm_2norm",
    "logistic",
    "additive_logistic",
    "gradient_boosting",
    "random_forest",
    "extra_trees",
    "marker",
)
