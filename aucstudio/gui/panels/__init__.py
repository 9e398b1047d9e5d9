"""The columns at both sides of the pictures, the strip above them, and the start page."""
