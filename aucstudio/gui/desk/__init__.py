"""How pages lie in the window: as tabs, in tiles, torn off, beside the panels."""
