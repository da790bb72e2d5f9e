"""The costly steps of recording, in C: many flows as records in one call, sums of long frames.

Importing it fails with ImportError where the extension was not built.
"""

from __future__ import annotations

from kwire.capture.native._recording import SUMS_FAST, FlowEncoder, copy_summed, encoder, keep_freed

__all__ = ["SUMS_FAST", "FlowEncoder", "copy_summed", "encoder", "keep_freed"]
