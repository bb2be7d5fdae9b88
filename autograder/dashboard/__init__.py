"""The instructor's dashboard in JupyterLab: the overview, its buttons, and the page for marking
answers.

Its buttons run the commands in separate processes. May import everything; no other package imports
it.
"""
