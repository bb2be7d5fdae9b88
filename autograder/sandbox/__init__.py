"""Runs submissions in a sandbox: a warm parent process, and a fork for every check and notebook.

`inside/` is our only code in the sandbox besides the public packages, and imports nothing else of
ours. The rest may import the public packages only.
"""
