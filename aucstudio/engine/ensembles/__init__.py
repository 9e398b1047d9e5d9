"""Combinations of scorers: common scales, weights and the combined scorer."""
