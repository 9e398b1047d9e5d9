"""Notes of several methods on what their fits found."""

from __future__ import annotations

SAME_MEAN = (
    "No direction lowers the loss, not even for the full AUC: the two classes have the same mean, "
    "or C is too small for the units of the features. All rows get the same score."
)
