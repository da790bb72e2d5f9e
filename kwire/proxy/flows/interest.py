"""The direction of frames, and the choice of those that are copied."""

from __future__ import annotations

from enum import Enum
from typing import Protocol


class Direction(Enum):
    """The way of a frame: to the node, or back to the client."""

    REQUEST = "request"
    RESPONSE = "response"


class Interest(Enum):
    """The ways in which a frame passes: as it is, or copied as well.

    COUNT: it passes, and nobody needs its flow: if that holds for request and response, the flow
    may come as one of `CountedFlows`.
    """

    COUNT = "count"
    PASS = "pass"
    TAP = "tap"


class Wants(Protocol):
    """Chooses what happens to the frames of an API, version and direction."""

    def __call__(self, key: int, version: int, direction: Direction, /) -> Interest: ...


def tap_everything(key: int, version: int, direction: Direction) -> Interest:
    """Copy every frame."""
    return Interest.TAP


def count_everything(key: int, version: int, direction: Direction) -> Interest:
    """Copy nothing, and let flows be counted only."""
    return Interest.COUNT


def pass_everything(key: int, version: int, direction: Direction) -> Interest:
    """Copy nothing: flows have sizes and times only."""
    return Interest.PASS
