"""Optimisers, independent of the methods."""
