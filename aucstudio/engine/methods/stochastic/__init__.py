"""Methods that step from row to row."""

ORDER = ("nsauc", "nsvmsgd2", "noam", "nsolam")
