"""Project and model files, exports and the program's folder."""
