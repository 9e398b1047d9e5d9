"""Combinations of scorers: a common scale, the weights that maximise the area, one scorer of all."""
