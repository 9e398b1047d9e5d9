"""Experiments: planning, validation, files and texts."""
