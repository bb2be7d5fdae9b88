"""Compares the trees of study 4, whose searches have windows, tables, killers, limits and budgets.

May import the rest of `verdict` and the layers below it.
"""
