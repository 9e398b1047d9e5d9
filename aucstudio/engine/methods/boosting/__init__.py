"""Sums of weak learners."""

ORDER = ("pauc_boost", "rankboost")
