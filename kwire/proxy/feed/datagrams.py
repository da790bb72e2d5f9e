"""The datagrams between a proxy and its viewers: `kwf`, a version, a seal, a MessagePack map.

The seal is the beginning of HMAC-SHA256 of the map under the token that both sides were given, the
empty one on loopback. What is not sealed, or not one of these messages, is no datagram of ours.
"""

from __future__ import annotations

import hmac
from typing import Any, TypeVar

import msgspec

from kwire.capture import CaptureRecord
from kwire.errors import WireError

T = TypeVar("T")

LIMIT = 8192
"""Bytes of the longest datagram."""

MAGIC = b"kwf"
VERSION = 1
SEAL = 16
_HEAD = len(MAGIC) + 1 + SEAL


class BadDatagram(WireError):
    """Bytes that are no datagram of the feed, or are not sealed with this token."""


class _Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """A map whose `type` is the class's tag; keys that a reader does not know are passed over."""


class Subscribe(_Message, frozen=True, tag="subscribe"):
    """A viewer is there, or still there. backlog: so many of the latest events are wanted first.

    cookie, in this and all other messages of a viewer: what its Challenge gave it.
    """

    cookie: bytes = b""
    backlog: int = 0


class Leave(_Message, frozen=True, tag="leave"):
    """A viewer goes."""

    cookie: bytes


class Get(_Message, frozen=True, tag="get"):
    """A viewer wants a flow with its whole frames, in parts that count from 0."""

    cookie: bytes
    flow: int
    part: int = 0


class SetHold(_Message, frozen=True, tag="set_hold"):
    """Hold the messages of which the expression is so; None: hold no more of them.

    number, in this and the other commands: what the answer repeats.
    """

    cookie: bytes
    number: int
    expression: str | None = None


class Release(_Message, frozen=True, tag="release"):
    """Let a held message go. how: `resume`, `drop`, or `close` its connection."""

    cookie: bytes
    number: int
    flow: int
    how: str = "resume"


class Edit(_Message, frozen=True, tag="edit"):
    """Set a field of a held message, which stays held. path: `topics.0.name`; value: as in YAML."""

    cookie: bytes
    number: int
    flow: int
    path: str
    value: str


class GetRules(_Message, frozen=True, tag="get_rules"):
    """A viewer wants the rules, in parts that count from 0; those of a number are of one moment."""

    cookie: bytes
    number: int
    part: int = 0


class AddRule(_Message, frozen=True, tag="add_rule"):
    """Add a rule behind all others. rule: a mapping in YAML, as in a rules file."""

    cookie: bytes
    number: int
    rule: str


class SwitchRule(_Message, frozen=True, tag="switch_rule"):
    """Let a rule act, or not."""

    cookie: bytes
    number: int
    name: str
    enabled: bool


class RemoveRule(_Message, frozen=True, tag="remove_rule"):
    """Remove a rule."""

    cookie: bytes
    number: int
    name: str


class Challenge(_Message, frozen=True, tag="challenge"):
    """The cookie of a viewer's address: shows that it really is where it says it is."""

    cookie: bytes


class Status(_Message, frozen=True, tag="status"):
    """Answers every Subscribe.

    feed: the id of this run of the proxy. sequence: of the latest Seen for this viewer. seconds:
    after so many without a Subscribe the viewer is forgotten. hold: the expression in force. held:
    the flows that wait, the oldest first. controls: whether the proxy can hold at all. rules: the
    revision of its rules, which grows with each change; changes: sentences about the latest ones.
    A Status is also sent when the rules have changed.
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


class Shown(_Message, frozen=True, tag="shown"):
    """One flow, or one notice, within a Seen.

    records: as in a capture (docs/capture-format.md), their `event` is the number of the flow;
    frames are cut where they do not fit. held: the response waits, where there is one, else the
    request.
    """

    records: tuple[CaptureRecord, ...]
    held: bool = False


class Seen(_Message, frozen=True, tag="seen"):
    """What has passed. events: Shown each. sequence: of the first of them.

    Events are counted from 1 for each viewer, those that were lost on the way to it included.
    """

    sequence: int
    events: tuple[msgspec.Raw, ...]


class Part(_Message, frozen=True, tag="part"):
    """A piece of the MessagePack array of a flow's records; parts: how many, 0 if it is gone."""

    flow: int
    part: int
    parts: int
    data: bytes = b""


class RuleShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rule in force, or switched off.

    origin: `file` or `command`. hits: how often it has acted. rule: its other keys and values.
    """

    name: str
    enabled: bool
    origin: str
    hits: int
    rule: dict[str, Any] = {}


class RulesPart(_Message, frozen=True, tag="rules"):
    """A piece of the MessagePack array of RuleShown. number: the GetRules' that it answers."""

    number: int
    part: int
    parts: int
    data: bytes = b""


class Done(_Message, frozen=True, tag="done"):
    """Answers a command. problem: why it was not done, empty where it was.

    names: of the rules that were added.
    """

    number: int
    problem: str = ""
    names: tuple[str, ...] = ()


RuleCommand = AddRule | SwitchRule | RemoveRule
Command = SetHold | Release | Edit | RuleCommand
FromViewer = Subscribe | Leave | Get | GetRules | Command
FromProxy = Challenge | Status | Seen | Part | RulesPart | Done

_encoder = msgspec.msgpack.Encoder()
_from_viewer: msgspec.msgpack.Decoder[FromViewer] = msgspec.msgpack.Decoder(FromViewer)
_from_proxy: msgspec.msgpack.Decoder[FromProxy] = msgspec.msgpack.Decoder(FromProxy)
_shown: msgspec.msgpack.Decoder[Shown] = msgspec.msgpack.Decoder(Shown)
_records: msgspec.msgpack.Decoder[tuple[CaptureRecord, ...]] = msgspec.msgpack.Decoder(
    tuple[CaptureRecord, ...]
)
_rules: msgspec.msgpack.Decoder[tuple[RuleShown, ...]] = msgspec.msgpack.Decoder(
    tuple[RuleShown, ...]
)


def encode(message: FromViewer | FromProxy, token: bytes) -> bytes:
    """The datagram."""
    body = _encoder.encode(message)
    return b"".join((MAGIC, bytes((VERSION,)), _seal(body, token), body))


def decode_from_viewer(data: bytes, token: bytes) -> FromViewer:
    """What a viewer says. Raises BadDatagram."""
    return _decoded(_from_viewer, _opened(data, token))


def decode_from_proxy(data: bytes, token: bytes) -> FromProxy:
    """What a proxy says. Raises BadDatagram."""
    return _decoded(_from_proxy, _opened(data, token))


def encode_shown(shown: Shown) -> msgspec.Raw:
    """An event, to be put into the datagrams of many viewers."""
    return msgspec.Raw(_encoder.encode(shown))


def decode_shown(data: msgspec.Raw) -> Shown:
    """An event. Raises BadDatagram."""
    return _decoded(_shown, bytes(data))


def encode_records(records: tuple[CaptureRecord, ...]) -> bytes:
    """What the parts of a flow are cut from."""
    return _encoder.encode(records)


def decode_records(data: bytes) -> tuple[CaptureRecord, ...]:
    """The parts of a flow, joined. Raises BadDatagram."""
    return _decoded(_records, data)


def encode_rules(rules: tuple[RuleShown, ...]) -> bytes:
    """Encode what RulesPart are cut from."""
    return _encoder.encode(rules)


def decode_rules(data: bytes) -> tuple[RuleShown, ...]:
    """Decode the RulesPart, joined. Raises BadDatagram."""
    return _decoded(_rules, data)


def _opened(data: bytes, token: bytes) -> bytes:
    if len(data) < _HEAD or data[:3] != MAGIC:
        raise BadDatagram("not a datagram of a feed")
    if data[3] != VERSION:
        raise BadDatagram(f"version {data[3]} of the feed, where {VERSION} is spoken")
    body = data[_HEAD:]
    if not hmac.compare_digest(data[4:_HEAD], _seal(body, token)):
        raise BadDatagram("sealed with another token, or damaged")
    return body


def _seal(body: bytes, token: bytes) -> bytes:
    return hmac.digest(token, body, "sha256")[:SEAL]


def _decoded(decoder: msgspec.msgpack.Decoder[T], body: bytes) -> T:
    try:
        return decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadDatagram(f"not a message of the feed: {error}") from error
