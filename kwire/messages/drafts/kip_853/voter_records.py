"""AddVoterRecord and RemoveVoterRecord, which VotersRecord replaced (KIP-853, a draft).

The later revision's layout. The first one calls the feature KRaftFeature and gives it no fields.
"""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Data, Group
from kwire.codec.notation import array, int16, int32, string, struct, uint16, uuid


class AddedVoterEndpoint(Group):
    """One endpoint; VotersRecord has no security protocol."""

    name: str = string
    host: str = string
    port: int = uint16
    security_protocol: int = int16


class AddedVoterFeature(Group):
    """The range of kraft.version that the voter supports."""

    min_supported_version: int = int16
    max_supported_version: int = int16


class AddVoterRecord(Data, versions="0", flexible="0+"):
    """A control record that adds one voter to the voter set."""

    version: int = int16
    voter_id: int = int32
    voter_uuid: UUID = uuid
    end_points: list[AddedVoterEndpoint] = array(AddedVoterEndpoint)
    k_raft_version_feature: AddedVoterFeature = struct(AddedVoterFeature)


class RemoveVoterRecord(Data, versions="0", flexible="0+"):
    """A control record that removes one voter; it may be in the log, but not in a snapshot."""

    version: int = int16
    voter_id: int = int32
    voter_uuid: UUID = uuid
