"""Course folders, submissions and grading steps for tests."""
