"""Grading, from a submission to marks in the gradebook, including attacks."""
