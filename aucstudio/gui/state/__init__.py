"""State of a window: study, plan and runs. No widgets."""
