"""What to run: asked for, checked, written down, told."""
