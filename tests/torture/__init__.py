"""Trials that kill, damage and starve the program: nothing may be lost, or wrong in silence."""
