"""The metadata quorum as plain values, under the names that kafka-metadata-quorum prints.

The JSON of `kwire quorum` is this, with the names in camelCase; its tables show the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kwire.text.ids import uuid_text

if TYPE_CHECKING:
    from kwire.admin import QuorumInfo
    from kwire.admin.quorum import ReplicaState


def status(cluster_id: str | None, quorum: QuorumInfo) -> dict[str, Any]:
    """Return the values of `describe --status`. cluster_id: None if no node told it."""
    return {
        "clusterId": cluster_id,
        "leaderId": quorum.leader_id,
        "leaderEpoch": quorum.leader_epoch,
        "highWatermark": quorum.high_watermark,
        "maxFollowerLag": quorum.max_follower_lag,
        "maxFollowerLagTimeMs": quorum.max_follower_lag_time_ms,
        "currentVoters": [
            {**_replica(voter), "endpoints": _endpoints(quorum, voter)} for voter in quorum.voters
        ],
        "currentObservers": [_replica(observer) for observer in quorum.observers],
    }


def replication(quorum: QuorumInfo) -> list[dict[str, Any]]:
    """Return the rows of `describe --replication`: leader, then voters, then observers."""
    voters = sorted(quorum.voters, key=lambda voter: voter is not quorum.leader)
    states = [(voter, "Leader" if voter is quorum.leader else "Follower") for voter in voters]
    states += [(observer, "Observer") for observer in quorum.observers]
    return [
        {
            "nodeId": replica.replica_id,
            "directoryId": _directory_id(replica),
            "logEndOffset": replica.log_end_offset,
            "lag": quorum.lag(replica),
            "lastFetchTimestamp": replica.last_fetch_timestamp,
            "lastCaughtUpTimestamp": replica.last_caught_up_timestamp,
            "status": state,
        }
        for replica, state in states
    ]


def _replica(replica: ReplicaState) -> dict[str, Any]:
    return {"id": replica.replica_id, "directoryId": _directory_id(replica)}


def _directory_id(replica: ReplicaState) -> str | None:
    directory_id = replica.replica_directory_id
    return None if directory_id is None else uuid_text(directory_id)


def _endpoints(quorum: QuorumInfo, voter: ReplicaState) -> list[str]:
    node = quorum.nodes.get(voter.replica_id)
    return [] if node is None else [str(endpoint) for endpoint in node.endpoints]
