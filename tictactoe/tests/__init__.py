"""Tests of the small games, and of what notebooks show of them."""
