"""Takes names and contents out of captures, so that they can be given away.

Every string of a message becomes `KIND-HASH`, the same for the same string wherever it stands, by a
key that is thrown away or kept for the next capture; every byte string becomes empty. What stays is
what the protocol itself brings (internal topics, error codes, features, names of configs), numbers,
ids that were random from the start, sizes and times. A frame that does not decode is left out.
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
"""Names of fields to what their strings are called."""

_KEPT_FIELDS = frozenset(
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
"""Fields whose strings the protocol, not the user, has chosen."""

_KEPT_NAMES = re.compile("Config|Synonym|Feature|Listener|Protocol|Endpoint")
"""Structs whose `name` is of that kind: configs, features, listeners, assignors."""

_KEPT_VALUES = re.compile(
    r"|\d{1,10}|__cluster_metadata|__consumer_offsets|__transaction_state|__share_group_state"
    r"|localhost|raft-client-\d{1,10}|broker-\d{1,10}-fetcher-\d{1,10}"
)
"""Strings that tell nothing: node ids, internal topics, what nodes call themselves."""


class Anonymizer:
    """Renames with a key of up to 64 bytes: the same key gives the same names."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def event(self, records: list[CaptureRecord]) -> list[CaptureRecord]:
        """The records of one event, without names."""
        inner: RequestHead | None = None
        done = []
        for record in records:
            head = _inner_head(record)
            inner = inner or head
            done.append(self._record(record, inner))
        return done

    def name(self, kind: str, text: str) -> str:
        """What a string is called from now on."""
        if _KEPT_VALUES.fullmatch(text):
            return text
        return self._host(text) if kind == "host" else f"{kind}-{self._hash(text).hex()[:10]}"

    def message(self, group: Group) -> None:
        """Rename in place, at every level; unknown tags go, since they may hold anything."""
        group.unknown_tags = None
        for name in type(group).fields:
            value: Any = getattr(group, name)
            if isinstance(value, Group):
                self.message(value)
            elif isinstance(value, list):
                for one in value:
                    self.message(one)
            elif isinstance(value, bytes):
                setattr(group, name, bytes(len(value)) if name.endswith("_address") else b"")
            elif isinstance(value, str | tuple) and not _is_kept(group, name):
                setattr(group, name, _each(value, self._renamer(group, name)))

    def _record(self, record: CaptureRecord, inner: RequestHead | None) -> CaptureRecord:
        frame, redaction = record.frame, record.redaction
        size = record.size
        if frame is not None:
            try:
                frame = None if record.truncated else self._frame(record, frame, inner)
            except KwireError:
                frame = None
            redaction = LEFT_OUT if frame is None else ANONYMIZED
            size = size if frame is None else len(frame)
        client_id = record.client_id
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
        asked = decode_request(frame)
        self.message(asked.header)
        data = getattr(asked.body, "request_data", None)
        self.message(asked.body)
        if isinstance(asked.body, EnvelopeRequest) and data is not None:
            asked.body.request_data = self._request(data)
        version = request_header_version(asked.header.request_api_key, asked.version)
        return asked.header.encode(version) + asked.body.encode(asked.version)

    def _response(self, frame: bytes, key: int, version: int, inner: RequestHead | None) -> bytes:
        answer = decode_response(frame, key, version)
        self.message(answer.header)
        data = getattr(answer.body, "response_data", None)
        self.message(answer.body)
        if isinstance(answer.body, EnvelopeResponse) and data is not None and inner is not None:
            answer.body.response_data = self._response(data, inner.key, inner.version, None)
        header_version = response_header_version(key, version)
        return answer.header.encode(header_version) + answer.body.encode(answer.version)

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
        """An address stays one, in 10.0.0.0/8; this machine's own stays as it is."""
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


def _is_kept(group: Group, name: str) -> bool:
    if name == "name":
        return bool(_KEPT_NAMES.search(type(group).__name__))
    return name in _KEPT_FIELDS


def _each(value: Any, rename: Callable[[str], str]) -> Any:
    """A string, or the strings of an array; numbers in one stay."""
    if isinstance(value, str):
        return rename(value)
    return tuple(rename(one) if isinstance(one, str) else one for one in value)


def _inner_head(record: CaptureRecord) -> RequestHead | None:
    """What the answer in an envelope is to be read by, of the request of one."""
    if record.kind == RESPONSE or record.api_key != EnvelopeRequest.key or record.frame is None:
        return None
    try:
        body = decode_request(record.frame).body
        return request_head(body.request_data) if isinstance(body, EnvelopeRequest) else None
    except KwireError:
        return None
