"""The page Calibration."""
