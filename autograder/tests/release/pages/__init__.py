"""Pages: the book, the live site, slides, teaching pages and the front pages."""
