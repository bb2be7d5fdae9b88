"""Code that all packages share: clocks, progress, and one-line descriptions of errors.

Imports nothing else from the kit.
"""
