"""The page Data: rows and columns of the table."""
