"""Trials that kill the program, damage its files or fill its disk: no loss, no silent error."""
