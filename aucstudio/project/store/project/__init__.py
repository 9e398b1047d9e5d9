"""The project file: how runs and the plan lie in it, are checked, carried over and saved."""
