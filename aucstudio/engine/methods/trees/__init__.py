"""Decision trees that split by AUC."""
