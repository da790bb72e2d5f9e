"""Requests of administrators and voters that change the voter set."""

from __future__ import annotations

from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.messages.a80_add_raft_voter import Listener as NewListener
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest
from kwire.messages.a82_update_raft_voter import (
    KRaftVersionFeature,
    Listener,
    UpdateRaftVoterRequest,
)
from tests.support.controller.raft.virtual_network import CLUSTER_ID, directory


def add_request(
    id: int = 4,
    *,
    cluster_id: str | None = CLUSTER_ID,
    listener: str = "CONTROLLER",
    **changes: object,
) -> AddRaftVoterRequest:
    """From an admin."""
    request = AddRaftVoterRequest(
        cluster_id=cluster_id,
        timeout_ms=30_000,
        voter_id=id,
        voter_directory_id=directory(id),
        listeners=[NewListener(name=listener, host=f"c{id}", port=9000 + id)],
    )
    return request.replace(**changes)


def remove_request(
    id: int, disk: int = 0, *, cluster_id: str | None = CLUSTER_ID
) -> RemoveRaftVoterRequest:
    """From an admin."""
    return RemoveRaftVoterRequest(
        cluster_id=cluster_id, voter_id=id, voter_directory_id=directory(id, disk)
    )


def update_request(
    id: int = 2,
    epoch: int = 5,
    *,
    port: int = 9002,
    disk: int = 0,
    cluster_id: str | None = CLUSTER_ID,
    listener: str = "CONTROLLER",
    versions: tuple[int, int] = (0, 1),
) -> UpdateRaftVoterRequest:
    """From a voter."""
    return UpdateRaftVoterRequest(
        cluster_id=cluster_id,
        current_leader_epoch=epoch,
        voter_id=id,
        voter_directory_id=directory(id, disk),
        listeners=[Listener(name=listener, host=f"c{id}", port=port)],
        k_raft_version_feature=KRaftVersionFeature(
            min_supported_version=versions[0], max_supported_version=versions[1]
        ),
    )
