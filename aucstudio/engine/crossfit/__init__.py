"""Members trained in folds: held-out scores, choices on them, and estimates of these choices."""
