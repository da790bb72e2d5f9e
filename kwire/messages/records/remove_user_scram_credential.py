"""RemoveUserScramCredentialRecord, type 22 of the cluster metadata log."""

from __future__ import annotations

from kwire.codec.declaration import MetadataRecord
from kwire.codec.notation import int8, string


class RemoveUserScramCredentialRecord(MetadataRecord, key=22, versions="0", flexible="0+"):
    """A user loses the SCRAM credential for one mechanism."""

    name: str = string
    mechanism: int = int8
