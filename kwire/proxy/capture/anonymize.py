"""Removal of names and contents from captures, so that they can be given away.

Every string of a message becomes `KIND-HASH`, the same for the same string everywhere. The key of
the hash is thrown away, or kept for the next capture. Every byte string becomes empty. The strings
that the protocol defines stay (internal topics, features, names of configs), and so do numbers,
random ids, sizes and times. A frame that does not decode is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from hashlib import blake2b
from ipaddress import ip_address
from typing import Any

import msgspec

from kwire.capture import RESPONSE, CaptureRecord
from kwire.capture.record import ANONYMIZED, LEFT_OUT
from kwire.codec.declaration import Group
from kwire.errors import KwireError
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.net.address import is_loopback
from kwire.net.frames import (
    RequestHead,
    decode_request,
    decode_response,
    request_head,
    request_header_version,
    response_header_version,
)

_KINDS = {
    "topic": "topic",
    "topic_name": "topic",
    "topics": "topic",
    "client_id": "client",
    "host": "host",
    "client_host": "host",
    "group_id": "group",
    "group": "group",
    "groups": "group",
    "groups_ids": "group",
    "member_id": "member",
    "group_instance_id": "member",
    "transactional_id": "transaction",
    "cluster_id": "cluster",
}
"""The kind of the strings in a field, by the field's name."""

_UNCHANGED_FIELDS = frozenset(
    {
        "client_software_name",
        "client_software_version",
        "configuration_keys",
        "feature",
        "mechanism",
        "mechanisms",
        "protocol_name",
        "protocol_type",
        "server_assignor",
        "group_state",
        "states_filter",
        "types_filter",
        "group_type",
        "transaction_state",
    }
)
"""Fields whose strings are chosen by the protocol, not by users."""

_STRUCTS_WITH_UNCHANGED_NAME = re.compile("Config|Synonym|Feature|Listener|Protocol|Endpoint")
"""Structs whose `name` is chosen by the protocol: configs, features, listeners, assignors."""

_UNCHANGED_VALUES = re.compile(
    r"|\d{1,10}|__cluster_metadata|__consumer_offsets|__transaction_state|__share_group_state"
    r"|localhost|raft-client-\d{1,10}|broker-\d{1,10}-fetcher-\d{1,10}"
)
"""Strings that reveal nothing: node ids, internal topics, client ids of nodes."""


class Anonymizer:
    """Renames strings by a key of up to 64 bytes: the same key gives the same names."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def event(self, records: list[CaptureRecord]) -> list[CaptureRecord]:
        """Return the records of one event without names."""
        # The request in an Envelope comes first, and tells how to decode the response to it.
        inner: RequestHead | None = None
        anonymized = []
        for record in records:
            inner = inner or _inner_head(record)
            anonymized.append(self._record(record, inner))
        return anonymized

    def name(self, kind: str, text: str) -> str:
        """Return the name in place of a string."""
        if _UNCHANGED_VALUES.fullmatch(text):
            return text
        return self._host(text) if kind == "host" else f"{kind}-{self._hash(text).hex()[:10]}"

    def message(self, group: Group) -> None:
        """Rename in place, at every level; remove unknown tags, which may contain anything."""
        group.unknown_tags = None
        for name in type(group).fields:
            value: Any = getattr(group, name)
            if isinstance(value, Group):
                self.message(value)
            elif isinstance(value, list):
                for element in value:
                    self.message(element)
            elif isinstance(value, bytes):
                setattr(group, name, bytes(len(value)) if name.endswith("_address") else b"")
            elif isinstance(value, str | tuple) and not _is_unchanged(group, name):
                setattr(group, name, _each(value, self._renamer(group, name)))

    def _record(self, record: CaptureRecord, inner: RequestHead | None) -> CaptureRecord:
        frame, redaction = record.frame, record.redaction
        size = record.size
        if frame is not None:
            try:
                # A frame that was cut cannot be decoded, and may hold any name.
                frame = None if record.truncated else self._frame(record, frame, inner)
            except KwireError:
                frame = None
            redaction = LEFT_OUT if frame is None else ANONYMIZED
            size = size if frame is None else len(frame)
        client_id = record.client_id
        # Problems, notes and texts are sentences, which may quote names and addresses.
        return msgspec.structs.replace(
            record,
            client=self._address(record.client),
            upstream=self._address(record.upstream),
            client_id=None if client_id is None else self.name("client", client_id),
            frame=frame,
            size=size,
            redaction=redaction,
            problems=tuple("a problem, in words that are left out" for _ in record.problems),
            notes=tuple("a note, in words that are left out" for _ in record.notes),
            text=None if record.text is None else "(left out)",
        )

    def _frame(self, record: CaptureRecord, frame: bytes, inner: RequestHead | None) -> bytes:
        if record.kind == RESPONSE:
            return self._response(frame, record.api_key or 0, record.api_version or 0, inner)
        return self._request(frame)

    def _request(self, frame: bytes) -> bytes:
        request = decode_request(frame)
        self.message(request.header)
        # Taken before `message` empties all byte strings.
        data = getattr(request.body, "request_data", None)
        self.message(request.body)
        if isinstance(request.body, EnvelopeRequest) and data is not None:
            request.body.request_data = self._request(data)
        version = request_header_version(request.header.request_api_key, request.version)
        return request.header.encode(version) + request.body.encode(request.version)

    def _response(self, frame: bytes, key: int, version: int, inner: RequestHead | None) -> bytes:
        response = decode_response(frame, key, version)
        self.message(response.header)
        data = getattr(response.body, "response_data", None)
        self.message(response.body)
        if isinstance(response.body, EnvelopeResponse) and data is not None and inner is not None:
            response.body.response_data = self._response(data, inner.key, inner.version, None)
        header_version = response_header_version(key, version)
        return response.header.encode(header_version) + response.body.encode(response.version)

    def _renamer(self, group: Group, name: str) -> Callable[[str], str]:
        kind = _KINDS.get(name, "")
        if not kind:
            kind = "topic" if name == "name" and "Topic" in type(group).__name__ else "text"
        return lambda text: self.name(kind, text)

    def _address(self, text: str) -> str:
        host, colon, port = text.rpartition(":")
        bare = self.name("host", host.strip("[]"))
        return f"[{bare}]:{port}" if ":" in bare else f"{bare}{colon}{port}"

    def _host(self, text: str) -> str:
        """Return an address in 10.0.0.0/8 for an address; loopback stays as it is."""
        if is_loopback(text):
            return text
        code = self._hash(text)
        try:
            ip_address(text)
        except ValueError:
            return f"host-{code.hex()[:10]}"
        return f"10.{code[0]}.{code[1]}.{code[2]}"

    def _hash(self, text: str) -> bytes:
        return blake2b(text.encode("utf-8", "backslashreplace"), key=self._key).digest()


def _is_unchanged(group: Group, name: str) -> bool:
    if name == "name":
        return bool(_STRUCTS_WITH_UNCHANGED_NAME.search(type(group).__name__))
    return name in _UNCHANGED_FIELDS


def _each(value: Any, rename: Callable[[str], str]) -> Any:
    """Rename a string, or the strings of an array; numbers stay."""
    if isinstance(value, str):
        return rename(value)
    return tuple(rename(element) if isinstance(element, str) else element for element in value)


def _inner_head(record: CaptureRecord) -> RequestHead | None:
    """Return the head of the request in an Envelope, None for other records."""
    if record.kind == RESPONSE or record.api_key != EnvelopeRequest.key or record.frame is None:
        return None
    try:
        body = decode_request(record.frame).body
        return request_head(body.request_data) if isinstance(body, EnvelopeRequest) else None
    except KwireError:
        return None
