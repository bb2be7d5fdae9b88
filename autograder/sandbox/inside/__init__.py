"""What runs inside the sandbox: nothing here holds a secret, and nothing here decides a mark.

The folder is mounted by itself at /kit/inside; it imports the public packages and never the
autograder.
"""
