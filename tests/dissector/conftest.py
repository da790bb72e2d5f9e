"""tshark with the dissector, for all tests here."""

from tests.support.dissector.tshark import tshark

__all__ = ["tshark"]
