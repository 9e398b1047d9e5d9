"""Boosting: sums of weak learners."""
