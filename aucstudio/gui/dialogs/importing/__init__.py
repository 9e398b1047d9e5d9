"""How a table is to be read: its first rows as they will be, and what can be said otherwise."""
