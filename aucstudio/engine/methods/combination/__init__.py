"""Combinations of columns and of scorers."""
