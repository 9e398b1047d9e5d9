"""The ROC picture in words and numbers."""
