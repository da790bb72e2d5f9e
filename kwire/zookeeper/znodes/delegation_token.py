"""/delegation_token/tokens/ID (kafka.server.DelegationTokenManagerZk, KIP-48)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kwire.zookeeper.znodes.json_object import JsonObject
from kwire.zookeeper.znodes.json_text import json_bytes
from kwire.zookeeper.znodes.sanitized_names import desanitize, sanitize


@dataclass(frozen=True, slots=True, kw_only=True)
class DelegationTokenZnode:
    """A token, without its HMAC: brokers make that of the id and their secret."""

    parent: ClassVar[str] = "/delegation_token/tokens"

    token_id: str
    owner: str
    requester: str
    renewers: tuple[str, ...] = ()
    issue_timestamp: int
    max_timestamp: int
    expiry_timestamp: int

    @staticmethod
    def path(token_id: str) -> str:
        """Return the path of a token."""
        return f"/delegation_token/tokens/{token_id}"

    @classmethod
    def parse(cls, data: bytes, path: str) -> DelegationTokenZnode:
        """Read version 1 to 3. Before 3 a token's owner is its requester. Raises InvalidZnode."""
        fields = JsonObject.parse(data, path)
        version = fields.integer("version")
        if not 1 <= version <= 3:
            fields.fail("version", f"{version} is unknown: Kafka 3.9 reads versions 1 to 3")
        owner = _principal(fields, "owner")
        return cls(
            token_id=fields.text("tokenId"),
            owner=owner,
            requester=_principal(fields, "tokenRequester") if version >= 3 else owner,
            renewers=tuple(_checked(fields, "renewers", text) for text in fields.texts("renewers")),
            issue_timestamp=fields.integer("issueTimestamp", bits=64),
            max_timestamp=fields.integer("maxTimestamp", bits=64),
            expiry_timestamp=fields.integer("expiryTimestamp", bits=64),
        )

    def encode(self) -> bytes:
        """Return version 3."""
        return json_bytes(
            {
                "version": 3,
                "owner": sanitize(self.owner),
                "tokenRequester": sanitize(self.requester),
                "renewers": [sanitize(renewer) for renewer in self.renewers],
                "issueTimestamp": self.issue_timestamp,
                "maxTimestamp": self.max_timestamp,
                "expiryTimestamp": self.expiry_timestamp,
                "tokenId": self.token_id,
            }
        )


def _principal(fields: JsonObject, name: str) -> str:
    return _checked(fields, name, fields.text(name))


def _checked(fields: JsonObject, name: str, text: str) -> str:
    principal = desanitize(text, fields.path)
    if ":" not in principal:
        fields.fail(name, "expected type:name")
    return principal
