"""Example studies and their tables."""
