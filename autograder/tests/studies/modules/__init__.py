"""Modules by people with only the student kit: their marks, and what the pages say of them."""
