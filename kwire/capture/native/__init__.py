"""Captures written and read in C: records of many flows, sums of long frames, decoded records.

Importing it fails with ImportError where the extension was not built.
"""

from __future__ import annotations

from kwire.capture.native._capture import SUMS_FAST, Decoder, FlowEncoder, copy_summed, keep_freed

__all__ = ["SUMS_FAST", "Decoder", "FlowEncoder", "copy_summed", "keep_freed"]
