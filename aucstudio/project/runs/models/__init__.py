"""Trained models and scoring."""
