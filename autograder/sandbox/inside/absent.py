"""Replaces a module that is not available to graded code.

`isolate` mounts this file over the module, so there is no way to read the module's source.
"""

raise ImportError("this module (an opponent or an oracle) is not available to graded code")
