"""The interface of the engines that read and write messages, and the limits that all of them keep.

The limits stand here and not beside the constructs, because the native engine and generated code
need them without construct.
"""

from __future__ import annotations

from typing import Any, Protocol

LOWEST_INT32 = -(1 << 31)
STRING_LIMIT = 0x7FFF
"""Longest string in bytes, whatever the width of its length (Kafka: MessageGenerator)."""

TAG_LIMIT = 1_000
"""Most tagged fields that one struct may carry when it is read.

Kafka allows 10,000 since 4.4; earlier releases have no limit and can be flooded with them.
`kwire.codec.engine_choice.limit_tags` changes it, so read it as an attribute of this module.
"""


class Decoder(Protocol):
    """Reads an object: returns it and the offset after it, or raises DecodeError.

    `offset` is 0 or more; callers check that, since hot loops call engines directly.
    """

    def __call__(self, data: Any, offset: int = 0, /) -> tuple[Any, int]: ...


class Encoder(Protocol):
    """Writes an object: returns its bytes, or raises EncodeError when a value does not fit."""

    def __call__(self, obj: Any, /) -> bytes: ...


class Engine(Protocol):
    """Reads and writes one version of one message."""

    @property
    def decode(self) -> Decoder:
        """The function that reads an object."""

    @property
    def encode(self) -> Encoder:
        """The function that writes an object."""
