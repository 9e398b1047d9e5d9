"""Explanations of a model: importance, effects, trees, single rows and pairs."""
