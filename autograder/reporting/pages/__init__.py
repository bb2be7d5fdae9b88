"""Makes feedback pages: determines what a page contains, and makes untrusted parts safe.

May import whatever `autograder.reporting` may import.
"""
