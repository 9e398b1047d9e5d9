"""Parts of the picture of difference vectors."""
