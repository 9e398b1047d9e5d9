"""Extensions of pyqtgraph.

Each module says why it overrides what it does, and names pyqtgraph's issue about it where there
is one.
"""
