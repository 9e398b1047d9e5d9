"""Decision trees that split by the area."""
