"""JupyterLab and formgrader in a browser."""
