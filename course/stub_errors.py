"""The name under which older notebooks load `course.notebook`."""

from course.notebook import load_ipython_extension

__all__ = ["load_ipython_extension"]
