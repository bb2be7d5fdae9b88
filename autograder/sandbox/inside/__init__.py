"""The code that runs inside the sandbox. It holds no secrets and decides no marks.

Only this folder is mounted, at /kit/inside; it imports the public packages and never the
autograder.
"""
