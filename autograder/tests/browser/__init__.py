"""Browser tests: notebooks, formgrader, the book and the live site."""
