"""Tests of the board and its actions."""
