"""What the pictures in a plane share: their subject, controls, legend and lines."""
