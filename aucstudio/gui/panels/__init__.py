"""Side columns, progress strip and start page."""
