"""Geometry of pictures: planes, directions, differences, score maps."""
