"""The set of voters, which elects the leader and commits records (KIP-853 "VotersRecord",
"Supported features")."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kwire.controller.raft.endpoints import NO_ENDPOINTS, Endpoints, PeerNode
from kwire.controller.raft.replica_key import ReplicaKey
from kwire.messages.data import voters_record
from kwire.messages.data.voters_record import VotersRecord
from kwire.net.negotiation import VersionRange

ONLY_STATIC = VersionRange(0, 0)
"""The kraft.version range of a voter that only `controller.quorum.voters` names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Voter:
    """A voter as VotersRecord knows it. supported: the kraft.version levels it can work with."""

    key: ReplicaKey
    endpoints: Endpoints
    supported: VersionRange = ONLY_STATIC


@dataclass(frozen=True, slots=True)
class VoterSet:
    """Voters by node id; an id is there once, whatever its directories."""

    voters: Mapping[int, Voter] = field(default_factory=dict)

    @classmethod
    def of(cls, voters: Iterable[Voter]) -> VoterSet:
        """Make the set of these voters."""
        return cls({voter.key.id: voter for voter in voters})

    @classmethod
    def from_record(cls, record: VotersRecord) -> VoterSet:
        """Read a VotersRecord."""
        return cls.of(
            Voter(
                key=ReplicaKey.from_wire(voter.voter_id, voter.voter_directory_id),
                endpoints=Endpoints.of(voter.endpoints),
                supported=VersionRange(
                    voter.k_raft_version_feature.min_supported_version,
                    voter.k_raft_version_feature.max_supported_version,
                ),
            )
            for voter in record.voters
        )

    def to_record(self) -> VotersRecord:
        """Return the VotersRecord of this set, voters in the order of their ids."""
        return VotersRecord(
            version=0,
            voters=[
                voters_record.Voter(
                    voter_id=id,
                    voter_directory_id=voter.key.wire_directory_id,
                    endpoints=voter.endpoints.groups(voters_record.Endpoint),
                    k_raft_version_feature=voters_record.KRaftVersionFeature(
                        min_supported_version=voter.supported.min_version,
                        max_supported_version=voter.supported.max_version,
                    ),
                )
                for id, voter in sorted(self.voters.items())
            ],
        )

    def __len__(self) -> int:
        return len(self.voters)

    def __iter__(self) -> Iterator[Voter]:
        return iter(self.voters.values())

    @property
    def ids(self) -> frozenset[int]:
        """The node ids."""
        return frozenset(self.voters)

    @property
    def keys(self) -> tuple[ReplicaKey, ...]:
        """The replica keys, by id."""
        return tuple(self.voters[id].key for id in sorted(self.voters))

    def contains(self, replica: ReplicaKey) -> bool:
        """Return True if this replica votes."""
        voter = self.voters.get(replica.id)
        return voter is not None and voter.key.covers(replica)

    def contains_only(self, replica: ReplicaKey) -> bool:
        """Return True if this replica votes and nobody else does."""
        return len(self) == 1 and self.contains(replica)

    def endpoints(self, id: int | None) -> Endpoints:
        """Return the addresses of a voter; empty for others."""
        voter = None if id is None else self.voters.get(id)
        return voter.endpoints if voter else NO_ENDPOINTS

    def node(self, id: int, listener: str) -> PeerNode | None:
        """Return a voter as a destination."""
        return self.endpoints(id).node(id, listener)

    def needs_update(self, voter: Voter) -> bool:
        """Return True if the set has this voter with other endpoints or another version range."""
        return self.contains(voter.key) and self.voters[voter.key.id] != voter

    def with_added(self, voter: Voter) -> VoterSet | None:
        """Return the set with one more voter; None if the id is taken."""
        return None if voter.key.id in self.voters else self._with(voter)

    def with_updated(self, voter: Voter, *, any_directory: bool = False) -> VoterSet | None:
        """Return the set with a voter's new endpoints and versions; None if it does not vote.

        any_directory: the id is enough, as before kraft.version 1 when directories were unknown.
        """
        known = voter.key.id in self.voters if any_directory else self.contains(voter.key)
        return self._with(voter) if known else None

    def without(self, replica: ReplicaKey) -> VoterSet | None:
        """Return the set with one voter less; None if the key is not in it or is the last one."""
        voter = self.voters.get(replica.id)
        if voter is None or voter.key != replica or len(self) == 1:
            return None
        return VoterSet.of(other for other in self if other is not voter)

    def _with(self, voter: Voter) -> VoterSet:
        return VoterSet({**self.voters, voter.key.id: voter})

    def supports(self, kraft_version: int) -> bool:
        """Return True if every voter can work at this level."""
        return all(kraft_version in voter.supported for voter in self)
