"""The page Data: the rows themselves, and what each column holds."""
