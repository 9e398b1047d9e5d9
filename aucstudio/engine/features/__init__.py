"""Spaces in which a scorer is linear: kernels, landmarks, random waves, splines, thresholds."""
