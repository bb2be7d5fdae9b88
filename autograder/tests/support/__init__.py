"""Helpers that several test modules share. Only tests import them."""
