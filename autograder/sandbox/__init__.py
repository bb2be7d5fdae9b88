"""Runs submissions behind walls: a warm parent, and a fork for every check and notebook.

`inside/` is all that stands within the walls beside the public packages; it imports nothing of
ours but those. The rest may import the public packages only.
"""
