"""Structural support vector machines: the area, and parts of it."""
