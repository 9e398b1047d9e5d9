"""Find the best: compare methods and settings on the training rows."""
