"""The datagrams between a proxy and its viewers: a head, a seal, a stamp, a MessagePack map.

The seal is the first 16 bytes of HMAC-SHA256 over all other bytes. Its key is the token that both
sides were given, empty on loopback. A datagram with another seal or another content is ignored; the
stamp tells which of the others are new (`sessions`).
"""

from __future__ import annotations

import hmac
import struct
from typing import Any, NamedTuple, TypeVar

import msgspec

from kwire.capture import CaptureRecord
from kwire.errors import InvalidValue, WireError

T = TypeVar("T")

LIMIT = 8192
"""Bytes of the longest datagram."""

SHORTEST_TOKEN = 16
"""Bytes, 128 random bits: whoever has recorded a datagram can try tokens without the proxy."""

MAGIC = b"kwf"
VERSION = 3
SEAL, FEED, SESSION, NONCE = 16, 16, 24, 16
"""Bytes of a seal, of the ids of a feed and of a session, and of a nonce."""

_HEAD = MAGIC + bytes((VERSION,))
_STAMP = struct.Struct(f">{FEED}s{SESSION}sQQ")
_SEALED = len(_HEAD) + SEAL  # where what follows the seal begins
_BODY = _SEALED + _STAMP.size


class BadDatagram(WireError):
    """Bytes that are not a datagram of the feed, or are sealed with another token."""


class Stamp(NamedTuple):
    """Tells a new datagram from a recorded one; all zero in the first of a viewer.

    feed: the id of a run of the proxy. session: of the viewer's session in it. number: counts the
    datagrams of one direction of a session from 1. time: milliseconds since the feed was started.
    """

    feed: bytes = bytes(FEED)
    session: bytes = bytes(SESSION)
    number: int = 0
    time: int = 0


class _Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """A map whose `type` is the class's tag; a reader ignores keys that it does not know."""


class Subscribe(_Message, frozen=True, tag="subscribe"):
    """Begins or renews a subscription. backlog: how many of the latest events to send first.

    nonce: random bytes, others after each Challenge that was taken. samples: True if the viewer
    wants a sample of the flows without errors while too many for a screen pass.
    """

    nonce: bytes
    backlog: int = 0
    samples: bool = False


class Leave(_Message, frozen=True, tag="leave"):
    """Ends a subscription."""


class GetFlow(_Message, frozen=True, tag="get"):
    """Asks for a part of a flow with its whole frames, counted from 0.

    number: of the parts of one moment; others for another moment, and for a GetRules.
    """

    number: int
    flow: int
    part: int = 0


class SetHold(_Message, frozen=True, tag="set_hold"):
    """A command to hold messages that match an expression; None: hold no more messages.

    number, in all commands: counts up, and is repeated in the result.
    """

    number: int
    expression: str | None = None


class Release(_Message, frozen=True, tag="release"):
    """A command to release a held message. how: `resume`, `drop`, or `close` its connection."""

    number: int
    flow: int
    how: str = "resume"


class Edit(_Message, frozen=True, tag="edit"):
    """A command to set a field of a held message.

    path: such as `topics.0.name`. value: as in YAML.
    """

    number: int
    flow: int
    path: str
    value: str


class GetRules(_Message, frozen=True, tag="get_rules"):
    """Asks for a part of the rules, as GetFlow does for one of a flow."""

    number: int
    part: int = 0


class AddRule(_Message, frozen=True, tag="add_rule"):
    """A command to add a rule behind all others.

    rule: a mapping in YAML, as in a rules file.
    """

    number: int
    rule: str


class SwitchRule(_Message, frozen=True, tag="switch_rule"):
    """A command to enable or disable a rule."""

    number: int
    name: str
    enabled: bool


class RemoveRule(_Message, frozen=True, tag="remove_rule"):
    """A command to remove a rule."""

    number: int
    name: str


class Challenge(_Message, frozen=True, tag="challenge"):
    """Offers a viewer the session of its stamp, which is good for the viewer's address alone.

    A viewer that uses it proves that it receives what is sent there: else anybody could have the
    traffic sent to the address of somebody else. nonce: of the Subscribe, which proves that the
    challenge is no older than that.
    """

    nonce: bytes


class Status(_Message, frozen=True, tag="status"):
    """Answers every Subscribe.

    feed: the id of this run of the proxy. sequence: of the latest event for this viewer. seconds:
    after so many without a Subscribe the viewer is removed. hold: the expression in force. held:
    the numbers of the held flows, the oldest first. controls: True if the proxy takes commands.
    rules: the revision of its rules, which grows with each change. changes: sentences about the
    latest changes. left_out: flows that this viewer was not sent because it samples. A Status is
    also sent when the rules have changed.
    """

    feed: str
    sequence: int
    seconds: float
    viewers: int = 1
    controls: bool = False
    hold: str | None = None
    held: tuple[int, ...] = ()
    rules: int = 0
    changes: tuple[str, ...] = ()
    left_out: int = 0


class ShownEvent(_Message, frozen=True, tag="shown"):
    """One flow or one notice within a Seen.

    records: as in a capture (docs/reference/capture-format.md), their `event` is the number of the
    flow; frames are cut if they do not fit. held: True if the flow's last message is held.
    """

    records: tuple[CaptureRecord, ...]
    held: bool = False


class Seen(_Message, frozen=True, tag="seen"):
    """Sends events. events: a ShownEvent each. sequence: of the first of them.

    Events are counted from 1 for each viewer, with those that were lost on the way to it.
    """

    sequence: int
    events: tuple[msgspec.Raw, ...]


class FetchedPart(_Message, frozen=True, tag="part"):
    """A part of the MessagePack array of a flow's records, or of the ShownRules.

    number: of the request that it answers. parts: how many, 0 if the flow is gone.
    """

    number: int
    part: int
    parts: int
    data: bytes = b""


class ShownRule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rule, enabled or not.

    origin: `file` or `command`. hits: how often it has acted. rule: its other keys and values.
    """

    name: str
    enabled: bool
    origin: str
    hits: int
    rule: dict[str, Any] = {}


class CommandResult(_Message, frozen=True, tag="done"):
    """Answers a command. problem: why it was refused, empty if it was done.

    names: of the rules that were added.
    """

    number: int
    problem: str = ""
    names: tuple[str, ...] = ()


RuleCommand = AddRule | SwitchRule | RemoveRule
Command = SetHold | Release | Edit | RuleCommand
FromViewer = Subscribe | Leave | GetFlow | GetRules | Command
FromProxy = Challenge | Status | Seen | FetchedPart | CommandResult

_encoder = msgspec.msgpack.Encoder()
_from_viewer: msgspec.msgpack.Decoder[FromViewer] = msgspec.msgpack.Decoder(FromViewer)
_from_proxy: msgspec.msgpack.Decoder[FromProxy] = msgspec.msgpack.Decoder(FromProxy)
_shown_event: msgspec.msgpack.Decoder[ShownEvent] = msgspec.msgpack.Decoder(ShownEvent)
_records: msgspec.msgpack.Decoder[tuple[CaptureRecord, ...]] = msgspec.msgpack.Decoder(
    tuple[CaptureRecord, ...]
)
_rules: msgspec.msgpack.Decoder[tuple[ShownRule, ...]] = msgspec.msgpack.Decoder(
    tuple[ShownRule, ...]
)


def check_token(token: bytes) -> None:
    """Raise InvalidValue if a token is so short that it can be guessed; an empty one is none."""
    if 0 < len(token) < SHORTEST_TOKEN:
        raise InvalidValue(
            f"a token of {len(token)} bytes, which can be guessed: "
            f"{SHORTEST_TOKEN} are the least, `openssl rand -hex 16` makes a good one"
        )


def encode(message: FromViewer | FromProxy, stamp: Stamp, token: bytes) -> bytes:
    """Encode and seal a datagram."""
    sealed = _STAMP.pack(*stamp) + _encoder.encode(message)
    return b"".join((_HEAD, _seal(sealed, token), sealed))


def decode_from_viewer(data: bytes, token: bytes) -> tuple[Stamp, FromViewer]:
    """Decode a datagram from a viewer. Raises BadDatagram, also for one longer than LIMIT."""
    if len(data) > LIMIT:
        raise BadDatagram(f"a datagram of {len(data)} bytes, where {LIMIT} are the most")
    stamp, body = _unseal(data, token)
    return stamp, _decode(_from_viewer, body)


def decode_from_proxy(data: bytes, token: bytes) -> tuple[Stamp, FromProxy]:
    """Decode a datagram from a proxy. Raises BadDatagram."""
    stamp, body = _unseal(data, token)
    return stamp, _decode(_from_proxy, body)


def encode_shown_event(event: ShownEvent) -> msgspec.Raw:
    """Encode an event once, for the datagrams of many viewers."""
    return msgspec.Raw(_encoder.encode(event))


def decode_shown_event(data: msgspec.Raw) -> ShownEvent:
    """Decode an event. Raises BadDatagram."""
    return _decode(_shown_event, bytes(data))


def encode_array(values: tuple[CaptureRecord, ...] | tuple[ShownRule, ...]) -> bytes:
    """Encode the records of a flow, or the rules, to be cut into FetchedParts."""
    return _encoder.encode(values)


def decode_records(data: bytes) -> tuple[CaptureRecord, ...]:
    """Decode the joined FetchedParts of a flow. Raises BadDatagram."""
    return _decode(_records, data)


def decode_rules(data: bytes) -> tuple[ShownRule, ...]:
    """Decode the joined FetchedParts of the rules. Raises BadDatagram."""
    return _decode(_rules, data)


def _unseal(data: bytes, token: bytes) -> tuple[Stamp, bytes]:
    if data[: len(MAGIC)] != MAGIC or len(data) < len(_HEAD):
        raise BadDatagram("not a datagram of a feed")
    if data[: len(_HEAD)] != _HEAD:
        raise BadDatagram(f"version {data[len(MAGIC)]} of the feed, where {VERSION} is spoken")
    if len(data) < _BODY:
        raise BadDatagram(f"a datagram that ends after {len(data)} bytes")
    # Compared in constant time: the time must not reveal how much of a guessed seal is right.
    if not hmac.compare_digest(data[len(_HEAD) : _SEALED], _seal(data[_SEALED:], token)):
        raise BadDatagram("sealed with another token, or damaged")
    return Stamp(*_STAMP.unpack_from(data, _SEALED)), data[_BODY:]


def _seal(sealed: bytes, token: bytes) -> bytes:
    return hmac.digest(token, _HEAD + sealed, "sha256")[:SEAL]


def _decode(decoder: msgspec.msgpack.Decoder[T], body: bytes) -> T:
    try:
        return decoder.decode(body)
    # Keys that nobody knows are skipped however deep they are nested, with Python's stack.
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise BadDatagram(f"not a message of the feed: {error}") from error
