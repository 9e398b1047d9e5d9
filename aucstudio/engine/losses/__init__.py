"""What is minimised: losses over pairs and ranges, summed by sorting."""

from collections.abc import Callable

from aucstudio.engine.types import Array

Risk = Callable[[Array], tuple[float, Array]]
"""A convex function of the scores: its value, and a subgradient."""
