"""Trained models: what they are, how they score a table, what they met there."""
