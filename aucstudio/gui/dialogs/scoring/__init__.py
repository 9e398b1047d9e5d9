"""A model gives scores to another table."""
