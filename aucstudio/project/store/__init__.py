"""Files of ours: projects, models, the program's own folder."""
