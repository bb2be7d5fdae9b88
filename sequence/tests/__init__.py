"""Tests of Sequence."""
