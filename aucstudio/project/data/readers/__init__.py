"""Readers of table formats, listed in formats.toml."""
