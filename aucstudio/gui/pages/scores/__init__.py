"""The page Scores."""
