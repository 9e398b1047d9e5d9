"""Feature spaces with linear scorers: kernels, landmarks, Fourier features, splines, stumps."""
