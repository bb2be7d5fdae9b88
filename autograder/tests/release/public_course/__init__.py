"""Tests of the public repository of a course."""
