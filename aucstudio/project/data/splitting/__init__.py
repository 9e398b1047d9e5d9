"""How rows are parted: training and held-out ones, groups kept whole, earlier and later."""
