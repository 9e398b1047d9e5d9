"""What changes results, found in the cells of a table; ``find`` is the way in."""
