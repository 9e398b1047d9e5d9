"""Cells made ready for a method: filled, coded, scaled; learnt on training rows."""
