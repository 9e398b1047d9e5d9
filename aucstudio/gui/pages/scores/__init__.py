"""What the Scores page is put together from; the confusion card is also beside the ROC curve."""
