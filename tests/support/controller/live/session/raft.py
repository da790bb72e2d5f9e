"""Requests of voters and observers with wrong values; none of them changes the quorum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from kwire.messages import a01_fetch as fetch
from kwire.messages import a52_vote as vote
from kwire.messages import a53_begin_quorum_epoch as begin
from kwire.messages import a54_end_quorum_epoch as end
from kwire.messages import a59_fetch_snapshot as snapshot
from kwire.messages import a80_add_raft_voter as add
from kwire.messages import a81_remove_raft_voter as remove
from kwire.messages import a82_update_raft_voter as update
from kwire.messages.metadata_topic import METADATA_TOPIC
from tests.support.controller.live.admin_session import Session, Step

ANOTHER = "AAAAAAAAAAAAAAAAAAAAAA"
NOBODY = UUID(int=99)
METADATA_TOPIC_ID = UUID(int=1)
STATE_OF_REPLICA = 15
"""The version of Fetch that has the id of the replica in a structure of its own (KIP-903)."""


def raft_requests(session: Session) -> Iterator[Step]:
    """All of them."""
    yield from _votes(session)
    yield from _begins(session)
    yield from _ends(session)
    yield from _fetches(session)
    yield from _snapshots(session)
    yield from _voters(session)


def _votes(session: Session) -> Iterator[Step]:
    partition = vote.PartitionData(
        replica_epoch=session.leader_epoch,
        replica_id=77,
        replica_directory_id=NOBODY,
        last_offset=5,
        last_offset_epoch=0,  # lower than the first leader's epoch, which may be any
    )
    whole = vote.VoteRequest(cluster_id=session.cluster_id, voter_id=session.leader_id)

    def ask(name: str, version: int = 2, topic: str = METADATA_TOPIC, **changes: Any) -> Step:
        topics = [vote.TopicData(topic_name=topic, partitions=[partition.replace(**changes)])]
        return Step(name=f"Vote {name}", request=whole.replace(topics=topics), version=version)

    for version in (0, 1, 2):
        yield ask(f"of a stranger v{version}", version)
    yield ask("of a stranger, first asking", pre_vote=True)
    for name, changes in _PARTITIONS_OF_VOTES.items():
        yield ask(name, **changes)
    yield ask("with an epoch of the future in its log", last_offset_epoch=session.leader_epoch + 1)
    yield ask("of the leader itself", replica_id=session.leader_id)
    yield ask("of another topic", topic="t")
    asked = ask("").request
    assert isinstance(asked, vote.VoteRequest)
    wrong: dict[str, dict[str, Any]] = {
        "of another cluster": {"cluster_id": ANOTHER},
        "of no cluster": {"cluster_id": None},
        "for another voter": {"voter_id": 77},
        "of two topics": {"topics": [*asked.topics, *asked.topics]},
        "without partitions": {"topics": [vote.TopicData(topic_name=METADATA_TOPIC)]},
    }
    for name, changes in wrong.items():
        yield Step(name=f"Vote {name}", request=asked.replace(**changes), version=2)


_PARTITIONS_OF_VOTES: Mapping[str, Mapping[str, Any]] = {
    "of an old epoch": {"replica_epoch": 0},
    "of a negative epoch": {"replica_epoch": -1},
    "of a negative offset": {"last_offset": -1},
    "of a negative epoch in its log": {"last_offset_epoch": -1},
    "of a negative id": {"replica_id": -1},
    "of partition 1": {"partition_index": 1},
    "for another directory": {"voter_directory_id": NOBODY},
}


def _begins(session: Session) -> Iterator[Step]:
    def ask(name: str, leader: int, epoch: int, version: int = 1, **changes: Any) -> Step:
        partition = begin.PartitionData(
            leader_id=leader,
            leader_epoch=epoch,
            partition_index=changes.pop("partition_index", 0),
            voter_directory_id=changes.pop("voter_directory_id", UUID(int=0)),
        )
        topic = begin.TopicData(
            topic_name=changes.pop("topic_name", METADATA_TOPIC), partitions=[partition]
        )
        at = begin.LeaderEndpoint(name="CONTROLLER", host="127.0.0.1", port=1)
        request = begin.BeginQuorumEpochRequest(
            cluster_id=session.cluster_id,
            voter_id=session.leader_id,
            topics=[topic],
            leader_endpoints=[at],
        ).replace(**changes)
        return Step(name=f"BeginQuorumEpoch {name}", request=request, version=version)

    for version in (0, 1):
        yield ask(f"of an old epoch v{version}", 77, 0, version)
    yield ask("of a negative epoch", 77, -1)
    # Another leader in this epoch ends the process of Kafka's controller: it is not asked.
    yield ask("of the leader itself", session.leader_id, session.leader_epoch)
    yield ask("of another cluster", 77, 0, cluster_id=ANOTHER)
    yield ask("of another topic", 77, 0, topic_name="t")
    yield ask("of partition 1", 77, 0, partition_index=1)
    yield ask("for another voter", 77, 0, voter_id=77)
    yield ask(
        "for another directory",
        session.leader_id,
        session.leader_epoch,
        voter_directory_id=NOBODY,
    )


def _ends(session: Session) -> Iterator[Step]:
    def ask(name: str, leader: int, epoch: int, version: int = 1, **changes: Any) -> Step:
        partition = end.PartitionData(
            leader_id=leader,
            leader_epoch=epoch,
            partition_index=changes.pop("partition_index", 0),
        )
        topic = end.TopicData(
            topic_name=changes.pop("topic_name", METADATA_TOPIC), partitions=[partition]
        )
        request = end.EndQuorumEpochRequest(cluster_id=session.cluster_id, topics=[topic]).replace(
            **changes
        )
        return Step(name=f"EndQuorumEpoch {name}", request=request, version=version)

    for version in (0, 1):
        yield ask(f"of an old epoch v{version}", 77, 0, version)
    yield ask("of a negative epoch", 77, -1)
    yield ask("of another cluster", 77, 0, cluster_id=ANOTHER)
    yield ask("of another topic", 77, 0, topic_name="t")
    yield ask("of partition 1", 77, 0, partition_index=1)


def _fetches(session: Session) -> Iterator[Step]:
    partition = fetch.FetchPartition(
        current_leader_epoch=session.leader_epoch,
        fetch_offset=0,
        last_fetched_epoch=0,
        replica_directory_id=NOBODY,
    )
    whole = fetch.FetchRequest(
        cluster_id=session.cluster_id,
        replica_state=fetch.ReplicaState(replica_id=77),
        max_bytes=1000,
    )

    def ask(name: str, version: int = 18, id: UUID = METADATA_TOPIC_ID, **changes: Any) -> Step:
        topics = [
            fetch.FetchTopic(
                topic=METADATA_TOPIC, topic_id=id, partitions=[partition.replace(**changes)]
            )
        ]
        asked = whole.replace(topics=topics)
        if version < STATE_OF_REPLICA:
            asked = asked.replace(replica_state=None, replica_id=77)
        return Step(name=f"Fetch {name}", request=asked, version=version)

    for version in range(12, 19):
        yield ask(f"from the start v{version}", version)
    for name, changes in _PARTITIONS_OF_FETCHES.items():
        yield ask(name, **changes)
    epoch = session.leader_epoch
    yield ask("from beyond the end", fetch_offset=1 << 40, last_fetched_epoch=epoch)
    yield ask("of a later epoch", current_leader_epoch=session.leader_epoch + 100)
    yield ask("after a later epoch", last_fetched_epoch=session.leader_epoch + 100)
    yield ask("of an unknown topic", id=NOBODY)
    asked = ask("").request
    assert isinstance(asked, fetch.FetchRequest)
    wrong: dict[str, dict[str, Any]] = {
        "of another cluster": {"cluster_id": ANOTHER},
        "of no cluster": {"cluster_id": None},
        "that waits less than nothing": {"max_wait_ms": -1},
        "of a consumer": {"replica_state": None},
        "in a session": {"session_id": 5, "session_epoch": 1},
        "of two topics": {"topics": [*asked.topics, *asked.topics]},
    }
    for name, changes in wrong.items():
        yield Step(name=f"Fetch {name}", request=asked.replace(**changes), version=18)
    yield Step(name="Fetch at a follower", request=asked, version=18, follower=True)


_PARTITIONS_OF_FETCHES: Mapping[str, Mapping[str, Any]] = {
    "of an old epoch": {"current_leader_epoch": 0},
    "of no epoch": {"current_leader_epoch": -1},
    "from below 0": {"fetch_offset": -1},
    "after a negative epoch": {"last_fetched_epoch": -1},
    "of partition 1": {"partition": 1},
    "of no directory": {"replica_directory_id": UUID(int=0)},
}


def _snapshots(session: Session) -> Iterator[Step]:
    partition = snapshot.PartitionSnapshot(
        current_leader_epoch=session.leader_epoch,
        snapshot_id=snapshot.SnapshotId(end_offset=3, epoch=1),
        position=0,
    )

    def ask(name: str, version: int = 1, topic: str = METADATA_TOPIC, **changes: Any) -> Step:
        whole = {
            key: changes.pop(key)
            for key in ("cluster_id", "max_bytes", "replica_id")
            if key in changes
        }
        topics = [snapshot.TopicSnapshot(name=topic, partitions=[partition.replace(**changes)])]
        request = snapshot.FetchSnapshotRequest(
            cluster_id=session.cluster_id, replica_id=77, topics=topics
        ).replace(**whole)
        return Step(name=f"FetchSnapshot {name}", request=request, version=version)

    for version in (0, 1):
        yield ask(f"that is not there v{version}", version)
    nothing = snapshot.SnapshotId(end_offset=-1, epoch=-1)
    wrong: dict[str, dict[str, Any]] = {
        "of an old epoch": {"current_leader_epoch": 0},
        "of no epoch": {"current_leader_epoch": -1},
        "of a later epoch": {"current_leader_epoch": session.leader_epoch + 100},
        "of partition 1": {"partition": 1},
        "of another topic": {"topic": "t"},
        "from below 0": {"position": -1},
        "from beyond the end": {"position": 1 << 40},
        "without an id": {"snapshot_id": nothing},
        "of the directory of nobody": {"replica_directory_id": NOBODY},
        "of another cluster": {"cluster_id": ANOTHER},
        "of no cluster": {"cluster_id": None},
        "of no bytes": {"max_bytes": 0},
        "of less than no bytes": {"max_bytes": -1},
    }
    for name, changes in wrong.items():
        yield ask(name, **changes)


def _voters(session: Session) -> Iterator[Step]:
    at = add.Listener(name="CONTROLLER", host="127.0.0.1", port=1)
    adding = add.AddRaftVoterRequest(
        cluster_id=session.cluster_id,
        timeout_ms=1000,
        voter_id=9,
        voter_directory_id=NOBODY,
        listeners=[at],
    )
    wrong: dict[str, dict[str, Any]] = {
        "with no listener": {"listeners": []},
        "of another cluster": {"cluster_id": ANOTHER},
        "below 0": {"voter_id": -1},
        "of a voter's id": {"voter_id": 3001},
    }
    for version in (0, 1):
        for name, changes in wrong.items():
            request = adding.replace(**changes)
            yield Step(name=f"AddRaftVoter {name} v{version}", request=request, version=version)
    unknown: dict[str, dict[str, Any]] = {
        "below 0": {"voter_id": -1},
        "without a cluster": {"cluster_id": None},
    }
    for name, changes in unknown.items():
        removing = remove.RemoveRaftVoterRequest(
            cluster_id=session.cluster_id, voter_id=9, voter_directory_id=NOBODY
        ).replace(**changes)
        yield Step(name=f"RemoveRaftVoter {name}", request=removing)
    yield from _updates(session)


def _updates(session: Session) -> Iterator[Step]:
    updating = update.UpdateRaftVoterRequest(
        cluster_id=session.cluster_id,
        current_leader_epoch=session.leader_epoch,
        voter_id=9,
        voter_directory_id=NOBODY,
        listeners=[update.Listener(name="CONTROLLER", host="127.0.0.1", port=1)],
        k_raft_version_feature=update.KRaftVersionFeature(
            min_supported_version=0, max_supported_version=1
        ),
    )
    narrow = update.KRaftVersionFeature(min_supported_version=5, max_supported_version=9)
    wrong: dict[str, dict[str, Any]] = {
        "of nobody": {},
        "of another directory": {"voter_id": 3000},
        "without a listener": {"listeners": []},
        "without a cluster": {"cluster_id": None},
        "below 0": {"voter_id": -1},
        "of other kraft.versions": {"k_raft_version_feature": narrow},
    }
    for name, changes in wrong.items():
        yield Step(name=f"UpdateRaftVoter {name}", request=updating.replace(**changes))
        yield Step(
            name=f"UpdateRaftVoter {name}, at a follower",
            request=updating.replace(**changes),
            follower=True,
        )
