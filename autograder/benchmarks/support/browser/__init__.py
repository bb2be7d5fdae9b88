"""JupyterLab and the live site in a headless Chromium, for benchmarks and for the browser tests.

May import whatever `autograder.benchmarks` may import.
"""
