"""ShareGroupPartitionMetadataKey."""

from __future__ import annotations

from kwire.codec.declaration import Data
from kwire.codec.notation import string


class ShareGroupPartitionMetadataKey(Data, versions="9"):
    """Keys the topics with share state by group, in 3.9's early access (KIP-932)."""

    group_id: str = string
