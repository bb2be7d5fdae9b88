"""All that goes out to students: stubs, notebooks, assignments, the kit, the book.

May import `workspace` and what staff edit; nothing that grades.
"""
