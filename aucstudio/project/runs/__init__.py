"""Runs: what to run, how it is run and searched, what is told while it goes, what came out."""
