"""tshark judges what is read of packets."""

from tests.support.dissector.tshark import tshark

__all__ = ["tshark"]
