"""Tests of the autograder, the notebooks and everything that is released."""
