"""Delimited text files: their encoding, their dialect, their cells."""
