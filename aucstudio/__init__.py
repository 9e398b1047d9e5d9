"""AUC Studio: train scorers for the ROC curve itself, and see what the curve can afford."""

__version__ = "0.1.0"
