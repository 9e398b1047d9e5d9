"""Out-of-memory tables."""
