"""Score a table with a model."""
