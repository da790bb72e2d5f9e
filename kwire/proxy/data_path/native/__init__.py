"""The data path in C: a loop that moves the bytes of plain connections without the interpreter.

Importing it fails with ImportError where the extension was not built; every connection is then
moved by asyncio, as those are that speak TLS, have filters, or do anything unusual.
"""

from __future__ import annotations

from kwire.proxy.data_path.native._relay import Frames, Loop

__all__ = ["Frames", "Loop"]
