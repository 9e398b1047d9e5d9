"""The squared hinge of all pairs by Newton's method."""
