"""Workspaces of a study, and stubs derived from answers."""
