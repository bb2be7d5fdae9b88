"""The history of marks, and regrade requests."""
