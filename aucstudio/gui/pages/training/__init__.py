"""What the picture of training is put together from: courses of fits, their lines, their words."""
