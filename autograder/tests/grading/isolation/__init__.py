"""Hostile submissions, and what they must not read or change."""
