"""What the pictures say of a model: importance, effects, trees, single pairs."""
