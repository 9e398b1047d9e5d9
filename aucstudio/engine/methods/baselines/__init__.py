"""Baselines that are validated on the same splits."""
