"""Readers of table formats, listed in the registry."""
