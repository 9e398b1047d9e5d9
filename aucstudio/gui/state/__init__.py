"""What a window knows and does: the study that is open, its plan and its runs. No widgets."""
