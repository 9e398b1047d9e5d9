"""What people use today, on the same splits."""
