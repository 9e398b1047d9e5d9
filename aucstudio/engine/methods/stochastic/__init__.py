"""Stochastic methods."""
