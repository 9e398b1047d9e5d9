"""Tables that stay on disk, read in blocks."""
