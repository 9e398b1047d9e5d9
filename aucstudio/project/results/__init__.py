"""Figures of runs, comparisons, operating points and reports."""
