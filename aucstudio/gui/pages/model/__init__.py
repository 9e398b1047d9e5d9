"""The pictures of the page Model: what a trained model makes of each column."""
