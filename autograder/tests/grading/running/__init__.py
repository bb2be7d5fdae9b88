"""Processes, workers and limits of a grading run."""
