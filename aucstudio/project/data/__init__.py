"""Tables: columns with roles, how files of them are read, prepared and split."""
