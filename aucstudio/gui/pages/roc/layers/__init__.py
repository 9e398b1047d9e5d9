"""Layers over the curves: bands, costs, isometrics, difference, operating point."""
