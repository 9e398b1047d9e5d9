"""What is minimised: losses over pairs and ranges, summed by sorting."""
