"""KRaftVersionRecord."""

from __future__ import annotations

from kwire.codec.declaration import Data
from kwire.codec.notation import int16


class KRaftVersionRecord(Data, versions="0", flexible="0+"):
    """The quorum agrees on a kraft.version (KIP-853)."""

    version: int = int16
    k_raft_version: int = int16
