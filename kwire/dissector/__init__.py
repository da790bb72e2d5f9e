"""Wireshark dissector: Lua source, generated from the declarations of all messages.

`source` returns one Lua file: hand-written parts (`lua/`) that read frames, pair responses with
requests and open record batches, and between them a function for each declared struct.
"""

from kwire.dissector.source import DEFAULT_PORTS, dissector_source

__all__ = ["DEFAULT_PORTS", "dissector_source"]
