"""Runs submissions in a sandbox, which consists of a parent process and a fork of it for every
check and notebook.

`inside/` and the public packages are the only code of the kit in the sandbox, and `inside/` imports
nothing else from the kit. May import only the public packages.
"""
