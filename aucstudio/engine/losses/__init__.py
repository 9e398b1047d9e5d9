"""Loss functions over pairs and ranges, computed by sorting."""

from collections.abc import Callable

from aucstudio.engine.arrays import Array

Risk = Callable[[Array], tuple[float, Array]]
"""A convex function of the scores: its value, and a subgradient."""
