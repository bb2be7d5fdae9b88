"""What people click: notebooks, formgrader, the book and the live site in a browser."""
