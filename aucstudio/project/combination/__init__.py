"""Combine finished runs without refitting."""
