"""Tests of progress lines and of descriptions of errors."""
