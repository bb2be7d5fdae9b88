"""Boards for playing and watching games in a notebook.

May import the games and the contract, which never import this package.
"""
