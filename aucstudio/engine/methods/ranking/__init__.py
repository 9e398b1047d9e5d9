"""RankSVM: the squared hinge loss of all pairs, by Newton's method."""
