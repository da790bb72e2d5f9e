"""Lengths in requests: found by encoding a field empty and with one element, and replaced.

A claimed length is the oldest way to bring a server down: CVE-2022-34917, CVE-2026-111108.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kwire.codec.compiler.runtime import uvarint
from kwire.codec.declaration import Request
from kwire.codec.fields import ArrayOf, Field, FieldType, Nullable, VariableLength
from kwire.conform.raw_frames import NO_TAGS, raw_header, sized, text16
from kwire.conform.safe_requests import safe_request
from kwire.conform.server import Server
from kwire.messages.index import APIS
from kwire.messages.registry import api_key, api_name, request

_CLIENT_ID = text16(b"kwire-conform")
_ARRAY, _STRING = 4, 2
"""Bytes of a length that is not compact."""
_HAS_NO_BODY = frozenset({api_key("ApiVersions")})


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthPlace:
    """A length in the body of a request. name: of its field. size: its bytes; 1 if compact."""

    key: int
    version: int
    name: str
    body: bytes
    start: int
    size: int
    compact: bool
    nullable: bool

    @property
    def id(self) -> str:
        """The name of a member of a family."""
        return f"{api_name(self.key)}-v{self.version}"

    def frame(self, length: bytes) -> bytes:
        """Return the request, its size included, with another length."""
        body = self.body[: self.start] + length + self.body[self.start + self.size :]
        return request_frame(self.key, self.version, body)

    def claim(self, number: int) -> bytes:
        """Return the request with a length as a number in the form of this place."""
        if not self.compact:
            return self.frame(number.to_bytes(self.size, "big", signed=True))
        return self.frame(uvarint(number + 1))


def request_frame(key: int, version: int, body: bytes) -> bytes:
    """Return a request with correlation id 1, its size included."""
    tags = NO_TAGS if version in request(key).flexible else None
    return sized(raw_header(key, version, 1, _CLIENT_ID, tags) + body)


def offered_forms(server: Server) -> Iterator[tuple[int, int]]:
    """Yield each API that is offered: its last version, and the last that is not flexible."""
    for key, offered in sorted(server.target.versions.api_versions.items()):
        if key not in APIS or key in _HAS_NO_BODY:
            continue
        known = [version for version in request(key).versions if version in offered]
        flexible = request(key).flexible
        classic = [
            version
            for version in known
            if version not in flexible and not (key == 0 and version < 3)
        ]
        yield from ((key, version) for version in sorted({*known[-1:], *classic[-1:]}))


def array_places(server: Server) -> Iterator[LengthPlace]:
    """Yield the first array of each API that is offered."""
    return _places(server, ArrayOf, _ARRAY)


def string_places(server: Server) -> Iterator[LengthPlace]:
    """Yield the first string of each API that is offered, outside of arrays."""
    return _places(server, VariableLength, _STRING)


def _places(server: Server, kind: type[FieldType], size: int) -> Iterator[LengthPlace]:
    for key, version in offered_forms(server):
        body = safe_request(key, version)
        if body is None:
            continue
        for name, field in type(body).fields.items():
            if version in field.versions and field.tag is None and _is(field.type, kind):
                yield _place(body, key, version, name, field, size)
                break


def _is(declared: FieldType, kind: type[FieldType]) -> bool:
    inner = declared.inner if isinstance(declared, Nullable) else declared
    return isinstance(inner, kind) and getattr(inner, "kind", "string") == "string"


def _place(
    body: Request, key: int, version: int, name: str, field: Field, size: int
) -> LengthPlace:
    inner = field.type.inner if isinstance(field.type, Nullable) else field.type
    setattr(body, name, inner.new_default())
    empty = body.encode(version)
    setattr(body, name, _with_one(inner))
    full = body.encode(version)
    end = next(place for place in range(len(empty)) if empty[place] != full[place]) + 1
    compact = version in type(body).flexible
    return LengthPlace(
        key=key,
        version=version,
        name=name,
        body=empty,
        start=end - (1 if compact else size),
        size=1 if compact else size,
        compact=compact,
        nullable=isinstance(field.type, Nullable) and version in field.type.versions,
    )


def _with_one(declared: FieldType) -> Any:
    if isinstance(declared, ArrayOf):
        element = declared.element.new_default()
        return [element] if isinstance(declared.new_default(), list) else (element,)
    return "k"
