"""Where work runs: threads, processes, clusters."""
