"""Import preview: the first rows as they will be read, and import settings."""
