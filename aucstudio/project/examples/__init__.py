"""The example studies, and how their tables are drawn."""
