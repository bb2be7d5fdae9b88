"""Numbers in the notebooks, recomputed."""
