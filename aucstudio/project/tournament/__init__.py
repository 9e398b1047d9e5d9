"""A fair tournament of methods and settings on the training rows of a table."""
