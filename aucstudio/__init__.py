"""AUC Studio: train classifiers for the ROC curve, compare them and export them."""

__version__ = "0.1.0"
