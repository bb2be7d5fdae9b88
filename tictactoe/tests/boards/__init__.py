"""Tests of the boards in notebooks."""
