"""What difference vectors and feature space share."""
