"""Runs in a Python kernel's own process, which is untrusted from the first line of user code on.

Nothing here holds a wall. The supervisor imports nothing of it.
"""
