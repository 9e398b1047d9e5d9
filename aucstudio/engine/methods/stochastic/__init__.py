"""Methods that step from row to row."""
