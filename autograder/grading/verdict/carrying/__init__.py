"""What distinguishes a mistake that is carried forward from arbitrary replies.

May import the rest of `verdict` and the layers below it.
"""
