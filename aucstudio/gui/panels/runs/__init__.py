"""The list of runs, the queue and the card of the selected run."""
