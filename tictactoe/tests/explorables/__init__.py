"""Tests of the interactive pictures."""
