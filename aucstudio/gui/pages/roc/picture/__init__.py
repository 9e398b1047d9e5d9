"""Drawing of the ROC plot."""
