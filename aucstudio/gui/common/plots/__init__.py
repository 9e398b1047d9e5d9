"""Everything that overrides pyqtgraph, in one room, and what a plot can do beyond it.

Each module says why it overrides what it does, and names pyqtgraph's issue about it where there
is one.
"""
