"""The view Feature space."""
