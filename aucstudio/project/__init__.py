"""Tables, experiments, jobs, records and files: everything between engine and window."""
