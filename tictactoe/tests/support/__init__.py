"""Helpers for tests of games and boards."""
