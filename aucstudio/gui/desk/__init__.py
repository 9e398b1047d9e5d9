"""Arrangement of pages: tabs, tiles and separate windows."""
