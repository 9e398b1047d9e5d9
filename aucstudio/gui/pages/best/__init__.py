"""The page Best."""
