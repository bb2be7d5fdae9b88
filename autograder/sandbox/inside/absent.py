"""What graded code finds instead of a module that is not available to it.

`isolate` binds this file over the module, so that no way of reading the module finds its text.
"""

raise ImportError("this module (an opponent or an oracle) is not available to graded code")
