"""SCRAM credentials as texts in users' configs (common.security.scram.ScramCredentialUtils)."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from dataclasses import dataclass, field

from kwire.zookeeper.errors import InvalidZnode

_FIELDS = {"salt", "stored_key", "server_key", "iterations"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramText:
    """The keys that verify a password. They are secrets, so they are not printed."""

    salt: bytes = field(repr=False)
    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)
    iterations: int

    @classmethod
    def parse(cls, text: str, path: str) -> ScramText:
        """Raises InvalidZnode with the path, without a part of the credential."""
        parts = [part.partition("=") for part in text.split(",")]
        values = {name: value for name, equals, value in parts if equals}
        if values.keys() != _FIELDS or len(parts) != len(_FIELDS):
            raise InvalidZnode(path, f"a SCRAM credential needs exactly {sorted(_FIELDS)}")
        iterations = values["iterations"]
        if not (iterations.isascii() and iterations.isdecimal() and len(iterations) <= 9):
            raise InvalidZnode(path, "the iterations of a SCRAM credential are no number")
        try:
            salt, stored_key, server_key = (
                b64decode(values[name], validate=True)
                for name in ("salt", "stored_key", "server_key")
            )
        except binascii.Error:
            raise InvalidZnode(path, "a key of a SCRAM credential is no base64") from None
        return cls(
            salt=salt, stored_key=stored_key, server_key=server_key, iterations=int(iterations)
        )

    def encode(self) -> str:
        """Return the text of the credential."""
        values = {"salt": self.salt, "stored_key": self.stored_key, "server_key": self.server_key}
        keys = ",".join(f"{name}={b64encode(value).decode()}" for name, value in values.items())
        return f"{keys},iterations={self.iterations}"
