"""What an instructor clicks in JupyterLab: the overview with its buttons, and written answers.

Its buttons run the commands, in processes of their own. May import everything; nothing imports this
package.
"""
