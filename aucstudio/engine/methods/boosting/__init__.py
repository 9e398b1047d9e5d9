"""Sums of weak learners."""
