"""The geometry of the pictures: planes, directions, differences, score maps."""
