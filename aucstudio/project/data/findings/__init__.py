"""Findings: properties of a table that change results."""
