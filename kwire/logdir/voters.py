"""The first voters of a dynamic quorum, as formatting is told of them (KIP-853)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from kwire.errors import InvalidValue
from kwire.messages.data.voters_record import Endpoint, KRaftVersionFeature, Voter, VotersRecord
from kwire.text.ids import parse_uuid, uuid_text
from kwire.text.untrusted import whole_number

_VOTER = re.compile(r"(\d+)@(\[[^\]]+\]|[^:\[\]@]+):(\d+):(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialVoter:
    """`id@host:port:directory-id`."""

    node_id: int
    host: str
    port: int
    directory_id: UUID

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.node_id}@{host}:{self.port}:{uuid_text(self.directory_id)}"


def parse_initial_voters(text: str) -> tuple[InitialVoter, ...]:
    """Voters separated by commas; InvalidValue for a wrong one, or for an id that comes twice."""
    voters = tuple(map(_voter, text.split(",")))
    ids = [voter.node_id for voter in voters]
    for node_id in ids:
        if ids.count(node_id) > 1:
            raise InvalidValue(f"node id {node_id} occurs twice in the initial controllers")
    return voters


def voters_record(voters: Sequence[InitialVoter], listener: str) -> VotersRecord:
    """Return the record of a first voter set, each of them reached by its default listener."""
    return VotersRecord(
        voters=[
            Voter(
                voter_id=voter.node_id,
                voter_directory_id=voter.directory_id,
                endpoints=[Endpoint(name=listener, host=voter.host, port=voter.port)],
                k_raft_version_feature=KRaftVersionFeature(
                    min_supported_version=0, max_supported_version=1
                ),
            )
            for voter in sorted(voters, key=lambda voter: voter.node_id)
        ]
    )


def _voter(text: str) -> InitialVoter:
    match = _VOTER.fullmatch(text.strip())
    node_id = match and whole_number(match[1], bits=31)
    port = match and whole_number(match[3], bits=16)
    if match is None or node_id is None or not port:
        raise InvalidValue(f"{text.strip()!r} is no controller: write id@host:port:directory-id")
    return InitialVoter(
        node_id=node_id,
        host=match[2].strip("[]"),
        port=port,
        directory_id=parse_uuid(match[4]),
    )
