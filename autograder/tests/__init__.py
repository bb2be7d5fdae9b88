"""Tests of the autograder, of the notebooks and of everything that is released."""
