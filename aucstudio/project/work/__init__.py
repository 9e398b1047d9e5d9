"""Where work is done: a thread, a process, several of them, a cluster."""
