"""Splits of rows: training and held-out, grouped, forward in time."""
