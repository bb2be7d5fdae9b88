"""Pages, pictures, kernels and browsers for tests."""
