"""The kinds of nodes that DescribeCluster tells apart (KIP-919; Java: EndpointType)."""

from __future__ import annotations

from enum import IntEnum


class EndpointType(IntEnum):
    """The kind of node a request is for; the value is the endpoint type of DescribeCluster."""

    BROKER = 1
    CONTROLLER = 2

    @property
    def noun(self) -> str:
        """The word `broker` or `controller`."""
        return self.name.lower()
