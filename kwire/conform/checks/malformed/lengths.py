"""Lengths of arrays and strings that cannot be, in every API that is offered.

Kafka's generated readers refuse a length beyond the bytes that remain before they allocate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from kwire.conform.bad_bytes import CLOSES, NOT_CLOSED, send_bytes
from kwire.conform.check import Check, CheckSection, Member, family
from kwire.conform.lengths import LengthPlace, array_places, string_places
from kwire.conform.server import Server
from kwire.conform.vocabulary import SentenceSource, guide

SECTION = CheckSection("malformed/length", "Impossible lengths")

_TYPES = guide("Protocol Primitive Types")
_LARGEST_ARRAY = (1 << 31) - 1
_LARGEST_STRING = (1 << 15) - 1
_SIX_BYTES = b"\xff\xff\xff\xff\xff\x01"


def lengths(
    sentence: str,
    source: SentenceSource,
    places: Callable[[Server], Iterator[LengthPlace]],
    frame: Callable[[LengthPlace], bytes],
    wanted: Callable[[LengthPlace], bool] = lambda place: True,
) -> Check:
    """Return a family that replaces a length in each API that is offered."""

    def members(server: Server) -> Iterator[Member]:
        for place in places(server):
            if wanted(place):
                run = partial(
                    send_bytes, frame(place), CLOSES, NOT_CLOSED, place.key, place.version
                )
                yield Member(id=f"{place.id}-{place.name}", run=run)

    return family(sentence, source, members, alone=True)


SECTION[1] = lengths(
    "An array of 2^31-1 elements that are not there ends the connection.",
    _TYPES,
    array_places,
    lambda place: place.claim(_LARGEST_ARRAY),
)
SECTION[2] = lengths(
    "An array of one element more than bytes are left ends the connection.",
    _TYPES,
    array_places,
    lambda place: place.claim(len(place.body) - place.start - place.size + 1),
)
SECTION[3] = lengths(
    "A null array where none may be null ends the connection.",
    _TYPES,
    array_places,
    lambda place: place.claim(-1),
    lambda place: not place.nullable,
)
SECTION[4] = lengths(
    "An array of length -2 where none may be null ends the connection.",
    _TYPES,
    array_places,
    lambda place: place.claim(-2),
    lambda place: not place.nullable and not place.compact,
)
SECTION[5] = lengths(
    "The length of an array as a varint of six bytes ends the connection.",
    _TYPES,
    array_places,
    lambda place: place.frame(_SIX_BYTES),
    lambda place: place.compact,
)
SECTION[6] = lengths(
    "A string that is longer than its frame ends the connection.",
    _TYPES,
    string_places,
    lambda place: place.claim(_LARGEST_STRING),
)
SECTION[7] = lengths(
    "A null string where none may be null ends the connection.",
    _TYPES,
    string_places,
    lambda place: place.claim(-1),
    lambda place: not place.nullable,
)
SECTION[8] = lengths(
    "A string of length -2 where none may be null ends the connection.",
    _TYPES,
    string_places,
    lambda place: place.claim(-2),
    lambda place: not place.nullable and not place.compact,
)
SECTION[9] = lengths(
    "The length of a string as a varint of six bytes ends the connection.",
    _TYPES,
    string_places,
    lambda place: place.frame(_SIX_BYTES),
    lambda place: place.compact,
)
