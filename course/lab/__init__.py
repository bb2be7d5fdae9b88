"""Support for JupyterLab and notebooks, such as the start page, progress and the file manager.

May import `course.checks` and the games.
"""
