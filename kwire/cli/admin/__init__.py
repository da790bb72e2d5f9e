"""The commands that ask a cluster: a module per theme of kwire.admin, named as it."""
