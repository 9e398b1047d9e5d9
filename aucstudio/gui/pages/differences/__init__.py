"""The view of difference vectors."""
