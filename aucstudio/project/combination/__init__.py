"""Finished runs combined without training again: what they held out chooses their weights."""
