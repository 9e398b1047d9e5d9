"""Views of a table: rows and columns for display."""
