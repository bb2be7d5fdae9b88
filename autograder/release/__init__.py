"""Makes everything that is handed out to students: stubs, notebooks, assignments, kit, book.

May import `workspace` and what staff edit; nothing that grades.
"""
