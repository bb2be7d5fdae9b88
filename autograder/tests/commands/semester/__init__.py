"""A whole semester, by commands only."""
