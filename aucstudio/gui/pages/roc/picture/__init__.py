"""What is drawn of a ROC picture: axes and faces, curves, legend, FPR range."""
