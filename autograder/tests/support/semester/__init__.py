"""A semester: the files that people write, and the rules for its marks."""
