"""Combinations of scorers: common scales, weights that maximise the area, one scorer of all."""
