"""Notebooks, releases, the student kit, the book and the site."""
