"""Tests of the games, their pictures and their players."""
