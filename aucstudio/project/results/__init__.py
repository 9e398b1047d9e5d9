"""Figures of runs with their uncertainty, comparisons, operating points, reports."""
