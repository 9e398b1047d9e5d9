"""What can be laid over the curves: bands, costs, isometrics, differences, an operating point."""
