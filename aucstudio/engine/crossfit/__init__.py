"""Cross-fitting: held-out scores of members, selection, and honest estimates of selections."""
