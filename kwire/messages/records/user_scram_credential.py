"""UserScramCredentialRecord, type 11 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import binary, int8, int32, string


class UserScramCredentialRecord(MetadataRecord, key=11, versions="0", flexible="0+"):
    """A user gets a SCRAM credential for one mechanism (KIP-631)."""

    name: str = string
    mechanism: int = int8
    salt: bytes = binary
    stored_key: bytes = binary
    server_key: bytes = binary
    iterations: int = int32
