"""The lab book: every run as a row, what waits and trains, the chosen run's card."""
