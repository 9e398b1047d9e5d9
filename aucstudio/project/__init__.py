"""Tables, splits, experiments, jobs, records, files: everything between engine and window."""
