"""The commands that read and write the files of learning management systems.

May import the rest of `commands` and the layers below it.
"""
