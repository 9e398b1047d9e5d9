"""Texts of the page ROC."""
