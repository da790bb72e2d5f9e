"""DelegationTokenRecord, type 10 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import array, int64, string


class DelegationTokenRecord(MetadataRecord, key=10, versions="0", flexible="0+"):
    """A delegation token is issued, or its expiry changes (KIP-631)."""

    owner: str = string
    requester: str = string
    renewers: tuple[str, ...] = array(string)
    issue_timestamp: int = int64
    max_timestamp: int = int64
    expiration_timestamp: int = int64
    token_id: str = string
