"""Helpers that tests of Sequence share."""
