"""The course: one folder per study, the function `check` for a student's module, and the start
page.

`checks/` defines, runs and marks checks. `lab/` adapts JupyterLab, `published/` contains tables of
results, and notebooks use `greedy_agent.py`, `own_searches.py`, `plots.py`, `notebook.py` and
`submission.py`.

May import `common`, `sequence` and `tictactoe`.
"""
