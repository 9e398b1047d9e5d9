"""Optimisers; each knows no method."""
