"""The page ROC."""
