"""Runs: experiments, execution, search and records."""
