"""What a table holds, to be looked at: its rows found and sorted, its columns summed up."""
