"""Widgets, plots, theme and printing that pages and panels share."""
