"""RemoveDelegationTokenRecord, type 26 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import string


class RemoveDelegationTokenRecord(MetadataRecord, key=26, versions="0", flexible="0+"):
    """A delegation token is no longer valid."""

    token_id: str = string
