"""Messages that were drafted in a KIP and never shipped; no registry and no index names them.

Nothing on a wire or on a disk has them. They are here for pages about the history of a KIP.
"""
