"""What all pages and panels share: text, theme, plots, small widgets, printing."""
