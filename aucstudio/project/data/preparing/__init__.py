"""Preprocessing fitted on training rows: imputation, encoding, scaling."""
