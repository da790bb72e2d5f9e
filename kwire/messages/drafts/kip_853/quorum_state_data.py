"""Two drafts of QuorumStateData version 1; version 0 is Kafka's of that time (KIP-853, KIP-595)."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Data, Group
from kwire.codec.notation import array, field, int32, int64, nullable, since, string, struct, uuid


class StaticVoterDraft(Group):
    """A voter of version 0."""

    voter_id: int = field(int32, "0")


class QuorumStateDataWithReplicaUuid(Data, versions="0-1", flexible="0+"):
    """The first draft: a replica keeps the UUID that it made for itself.

    The draft lets VotedUuid be null, which Kafka's message format has for no UUID: here the zero
    UUID stands for it, as in the released version 1.
    """

    cluster_id: str = string
    replica_uuid: UUID = since(1, uuid)
    leader_id: int = field(int32, default=-1)
    leader_epoch: int = field(int32, default=-1)
    voted_id: int = field(int32, default=-1)
    voted_uuid: UUID = since(1, uuid)
    applied_offset: int = int64
    current_voters: list[StaticVoterDraft] | None = field(nullable(array(StaticVoterDraft)), "0")


class AppliedRecord(Group):
    """The newest record that the voters are known from; end_offset is exclusive."""

    end_offset: int = since(1, int64, default=-1)
    epoch: int = since(1, int32, default=-1)


class VoterDraft(Group):
    """A voter, since version 1 with the UUID of its directory."""

    voter_id: int = int32
    voter_uuid: UUID = since(1, uuid)


class QuorumStateDataWithAppliedRecord(Data, versions="0-1", flexible="0+"):
    """The later draft: a replica keeps its voters, and how far in the log they are known."""

    cluster_id: str = field(string, "0")
    leader_id: int = field(int32, default=-1)
    leader_epoch: int = field(int32, default=-1)
    voted_id: int = field(int32, default=-1)
    voted_uuid: UUID = since(1, uuid)
    applied_offset: int = field(int64, "0")
    applied_record: AppliedRecord = since(1, struct(AppliedRecord))
    current_voters: list[VoterDraft] | None = nullable(array(VoterDraft))
