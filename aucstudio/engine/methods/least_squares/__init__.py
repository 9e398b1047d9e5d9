"""Regularised least squares, on pairs and on labels."""
