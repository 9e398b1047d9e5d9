"""The pages of the centre, one room each."""
