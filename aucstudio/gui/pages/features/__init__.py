"""What the page Feature space is made of: rows, boundaries, shading, and the row pointed at."""
