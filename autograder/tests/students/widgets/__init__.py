"""Boards, explorables and plots in a notebook."""
