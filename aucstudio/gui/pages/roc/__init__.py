"""What the ROC picture is made of: its axes, its lines, and the layers over them."""
