"""Voters are removed by both their ids, and refusals say why (KIP-853)."""

from collections.abc import Callable
from uuid import UUID

import pytest

from kwire.admin import (
    AdminClient,
    InconsistentClusterId,
    VoterNotFound,
)
from kwire.admin.errors import OutcomeUnknown
from kwire.admin.voters import STOPPED_LEADING
from kwire.errors import InvalidValue
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.net.frames import RequestFrame
from kwire.text.ids import uuid_text
from real_kafka import Cluster, Layout
from scripted_quorum import scripted_quorum
from tests.support.admin.voter_changes import (
    BOOTSTRAPS,
    OURS,
    STRANGER,
    client,
    losing,
    nowhere,
    refused,
)

OwnCluster = Callable[[Layout], Cluster]


# Codes and messages: facts of Kafka 4.3.1, golden/remove-controller-unknown.txt among them.


@BOOTSTRAPS
async def test_a_voter_is_removed_only_by_both_its_ids(quorum: Cluster, bootstrap: str) -> None:
    async with client(quorum, bootstrap) as admin:
        own = quorum.controllers[3000].directory_id
        for voter_id, directory_id in ((3005, own), (3000, uuid_text(STRANGER))):
            error = await refused(admin.remove_raft_voter, voter_id, directory_id)
            assert isinstance(error, VoterNotFound)
            assert f"ReplicaKey(id={voter_id}, directoryId={directory_id})" in str(error)


@BOOTSTRAPS
async def test_another_clusters_id_is_refused(quorum: Cluster, bootstrap: str) -> None:
    own = quorum.controllers[3000].directory_id
    async with client(quorum, bootstrap) as admin:
        for change, arguments in (
            (admin.remove_raft_voter, (3000, own)),
            (admin.add_raft_voter, (3009, STRANGER, [nowhere()])),
        ):
            error = await refused(change, *arguments, cluster_id="another")
            assert isinstance(error, InconsistentClusterId)
    assert str(error) == (
        'INCONSISTENT_CLUSTER_ID: The given id "another" doesn\'t match the cluster id'
        f' "{quorum.cluster_id}"'
    )


async def test_a_directory_id_that_is_none_is_refused_before_anything_is_sent() -> None:
    async with AdminClient(bootstrap_controllers="127.0.0.1:1") as admin:
        with pytest.raises(InvalidValue, match="'3000' is no id"):
            await admin.remove_raft_voter(3000, "3000")


@pytest.mark.parametrize("version", ["4.3.1", pytest.param("3.9.1", marks=pytest.mark.releases)])
async def test_static_voters_have_no_directory_ids_and_cannot_be_changed(
    own_cluster: OwnCluster, version: str
) -> None:
    layout = Layout(controllers=(1,), brokers=(1,), version=version, static=True)
    with own_cluster(layout) as cluster:
        async with client(cluster) as admin:
            quorum = await admin.describe_metadata_quorum()
            assert [voter.replica_id for voter in quorum.voters] == [1]
            error = await refused(admin.remove_raft_voter, 1, UUID(int=5))
    # golden/remove-controller-static391.txt
    assert error.name == "UNSUPPORTED_VERSION"
    assert "the kraft.version feature is 0" in str(error)


async def test_a_removal_that_had_worked_misses_no_voter() -> None:
    async with scripted_quorum(1) as one:
        one.voters = {OURS}
        one.nodes[0].scripts[RemoveRaftVoterRequest] = losing(127, True, one)
        async with AdminClient(bootstrap_controllers=one.addresses()) as admin:
            await admin.remove_raft_voter(*OURS)
        assert one.voters == set()


@pytest.mark.parametrize("carried_out", [True, False])
async def test_a_removal_whose_leader_stops_leading_is_cleared_up_or_unknown(
    carried_out: bool,
) -> None:
    async with scripted_quorum(1) as one:
        one.voters = {OURS}

        def resign(request: RequestFrame) -> RemoveRaftVoterResponse:
            if len(one.nodes[0].requests(RemoveRaftVoterRequest)) > 1:
                code = 127 if carried_out else 6
                return RemoveRaftVoterResponse(error_code=code)
            if carried_out:
                one.voters = set()
            text = f"{STOPPED_LEADING}; the new voters may still be committed"
            return RemoveRaftVoterResponse(error_code=6, error_message=text)

        one.nodes[0].scripts[RemoveRaftVoterRequest] = resign
        async with AdminClient(bootstrap_controllers=one.addresses(), timeout=1) as admin:
            if carried_out:
                await admin.remove_raft_voter(*OURS)
            else:
                with pytest.raises(OutcomeUnknown, match=r"leader.* may have been made"):
                    await admin.remove_raft_voter(*OURS)
