"""The checks of a proxy's configuration file, one file a subject: what makes it less safe.

Each file has `KINDS`, in the order of the documentation, and `check`, which yields weaknesses. The
advice of a kind has the command to run, or the keys to write, between backticks.
"""
