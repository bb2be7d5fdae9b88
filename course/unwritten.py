"""The name that `course.notebook` had in notebooks that were released before."""

from course.notebook import load_ipython_extension

__all__ = ["load_ipython_extension"]
