"""Combinations of columns and of methods."""
