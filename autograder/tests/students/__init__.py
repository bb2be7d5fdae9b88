"""The tools that students use in a notebook."""
