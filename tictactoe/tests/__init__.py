"""Tests of the small games and of their pictures and boards in notebooks."""
