"""Formats of tables: each is one module, and whatever opens files asks the registry."""
