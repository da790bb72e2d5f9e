"""Quorums of replicas elect, replicate, change and recover."""

import pytest

from kwire.controller.raft import (
    BOOTSTRAP_SNAPSHOT,
    Append,
    BecomeLeader,
    OffsetAndEpoch,
    Rejected,
    RequestReceived,
    Resign,
    Shutdown,
    ShutdownComplete,
    UpgradeKRaftVersion,
)
from kwire.error_codes import ErrorCode
from kwire.errors import InvalidValue
from kwire.messages.a18_api_versions import ApiVersionsRequest
from memory_log import MemoryLog
from tests.support.controller.raft.single_replica import (
    code,
    follower,
    leader,
    unattached,
)
from tests.support.controller.raft.virtual_network import (
    Host,
    Network,
    committed,
    directory,
    dynamic_quorum,
    endpoints,
    key,
    snapshot,
    static_quorum,
    voter_set,
)
from tests.support.controller.raft.voter_requests import add_request, remove_request
from tests.support.paths import ROOT
from tests.support.seed import SEED
from tests.support.source_files import source_files


def others(network: Network, host: Host) -> list[int]:
    return [id for id in network.hosts if id != host.config.node_id]


def test_three_voters_elect_one_leader() -> None:
    network = dynamic_quorum(1, 2, 3)
    leader = network.elect()
    network.run(1_000)
    roles = sorted(host.running.role for host in network.hosts.values())
    assert roles == ["follower", "follower", "leader"]
    assert {host.running.leader_id for host in network.hosts.values()} == {leader.config.node_id}


def test_what_is_appended_is_everywhere_and_committed() -> None:
    network = dynamic_quorum(1, 2, 3)
    end = network.commit(b"a", b"b")
    network.commit(b"c")
    assert [host.values for host in network.hosts.values()] == [[b"a", b"b", b"c"]] * 3
    assert all(committed(host) > end for host in network.hosts.values())


def test_the_logs_are_the_same_byte_for_byte() -> None:
    network = dynamic_quorum(1, 2, 3, observers=(9,))
    network.commit(b"a", b"b")
    network.kill(network.elect().config.node_id)
    network.commit(b"c")
    logs = {h.log.read(0, 1 << 20) for h in network.hosts.values() if h.raft}
    assert len(logs) == 1


def test_static_voters_elect_and_replicate_too() -> None:
    network = static_quorum(1, 2, 3)
    network.commit(b"a")
    assert all(host.values == [b"a"] for host in network.hosts.values())
    assert network.elect().running.kraft_version == 0


def test_a_single_voter_leads_at_once() -> None:
    network = dynamic_quorum(1)
    network.run(1)
    assert network.hosts[1].running.role == "leader"
    assert any(isinstance(effect, BecomeLeader) for effect in network.hosts[1].history)


@pytest.mark.parametrize("seed", range(SEED, SEED + 5))
def test_another_leader_takes_over_and_nothing_committed_is_lost(seed: int) -> None:
    network = dynamic_quorum(1, 2, 3, seed=seed)
    network.commit(b"a")
    first = network.elect()
    network.kill(first.config.node_id)
    network.commit(b"b")
    assert network.elect() is not first
    network.start(first.config.node_id)
    network.commit(b"c")
    assert first.values == [b"a", b"b", b"c"]


def test_a_quorum_recovers_when_all_were_killed() -> None:
    network = dynamic_quorum(1, 2, 3)
    network.commit(b"a")
    for id in network.hosts:
        network.kill(id)
    for id in network.hosts:
        network.start(id)
    network.commit(b"b")
    assert [host.values for host in network.hosts.values()] == [[b"a", b"b"]] * 3


def test_a_leader_that_is_cut_off_is_replaced_and_its_records_are_undone() -> None:
    network = dynamic_quorum(1, 2, 3)
    network.commit(b"a")
    old = network.elect()
    lonely = old.config.node_id
    network.cut = lambda source, destination: lonely in (source, destination)
    network.append(b"lost")
    new = [network.hosts[id] for id in others(network, old)]
    network.until(lambda: any(host.running.role == "leader" for host in new))
    network.until(lambda: old.running.role != "leader")
    network.cut = lambda source, destination: False
    network.commit(b"b")
    assert old.values == [b"a", b"b"]


def test_a_follower_that_was_cut_off_does_not_disturb_the_quorum() -> None:
    network = dynamic_quorum(1, 2, 3)
    network.commit(b"a")
    leader = network.elect()
    epoch, lonely = leader.running.epoch, others(network, leader)[0]
    network.cut = lambda source, destination: lonely in (source, destination)
    network.run(20_000)
    network.cut = lambda source, destination: False
    network.run(20_000)
    assert (network.elect(), leader.running.epoch) == (leader, epoch), "pre-votes see to it"


def test_a_quorum_cut_in_two_goes_on_where_the_majority_is() -> None:
    network = dynamic_quorum(1, 2, 3, 4, 5)
    network.commit(b"a")
    minority = {1, 2}
    network.cut = lambda source, destination: (source in minority) != (destination in minority)
    majority = [network.hosts[id] for id in (3, 4, 5)]
    network.until(lambda: any(h.running.role == "leader" for h in majority))
    network.until(lambda: all(network.hosts[id].running.role != "leader" for id in minority))
    end = network.append(b"b")
    network.until(lambda: all(committed(host) >= end for host in majority))
    network.cut = lambda source, destination: False
    network.commit(b"c")
    assert network.hosts[1].values == [b"a", b"b", b"c"]


def test_the_best_successor_takes_over_at_once_when_a_leader_resigns() -> None:
    network = dynamic_quorum(1, 2, 3)
    network.commit(b"a")
    old = network.elect()
    network.step(old.config.node_id, Resign(epoch=old.running.epoch))
    start = network.now
    network.until(lambda: network.leader not in (None, old))
    assert network.now - start < old.config.election_timeout_ms


def test_a_leader_that_shuts_down_hands_over_first() -> None:
    network = dynamic_quorum(1, 2, 3)
    network.commit(b"a")
    old = network.elect()
    network.step(old.config.node_id, Shutdown())
    network.until(lambda: ShutdownComplete() in old.history)
    assert old.running.leader_id in others(network, old)
    network.run(5_000)
    assert old.history.count(ShutdownComplete()) == 1


def test_followers_and_single_voters_may_go_at_once() -> None:
    solo = follower()
    assert ShutdownComplete() in solo.step(Shutdown())
    network = dynamic_quorum(1)
    assert ShutdownComplete() in network.step(1, Shutdown())


def test_a_voter_that_shuts_down_does_not_stand_any_more() -> None:
    solo = unattached()
    solo.step(Shutdown())
    solo.after(60_000)
    assert (solo.raft.role, solo.raft.epoch) == ("unattached", 5)


def test_a_leader_that_shuts_down_takes_nothing_on() -> None:
    network = dynamic_quorum(1, 2, 3)
    network.commit(b"a")
    old = network.elect()
    network.step(old.config.node_id, Shutdown())
    event = Append(token="a", epoch=old.running.epoch, records=())
    (effect,) = network.step(old.config.node_id, event)
    assert isinstance(effect, Rejected)


def test_a_quorum_grows_from_one_to_three_by_itself() -> None:
    network = dynamic_quorum(1)
    for id in (2, 3):
        network.add(id, auto_join=True)
    network.until(lambda: network.elect().running.voters == voter_set(1, 2, 3))
    network.commit(b"a")
    assert all(host.running.is_voter for host in network.hosts.values())
    network.kill(1)
    network.commit(b"b")


def test_an_admin_adds_and_removes_voters() -> None:
    network = dynamic_quorum(1, 2, 3, observers=(4,))
    network.commit(b"a")
    leader = network.elect().config.node_id
    assert code(network.ask(leader, add_request(4))) == ErrorCode.NONE
    assert code(network.ask(leader, add_request(4))) == ErrorCode.DUPLICATE_VOTER
    removed = others(network, network.elect())[0]
    assert code(network.ask(leader, remove_request(removed))) == ErrorCode.NONE
    network.commit(b"b")
    assert len(network.elect().running.voters) == 3
    assert not network.hosts[removed].running.is_voter
    assert network.hosts[removed].values == [b"a", b"b"], "it observes on"


def test_a_leader_is_removed_and_the_others_go_on() -> None:
    network = dynamic_quorum(1, 2, 3)
    network.commit(b"a")
    old = network.elect()
    id = old.config.node_id
    assert code(network.ask(id, remove_request(id))) == ErrorCode.NONE
    network.until(lambda: network.leader not in (None, old))
    network.commit(b"b")
    assert old.running.role == "follower"
    assert not old.running.is_voter


def test_a_leader_that_removed_itself_and_died_does_not_stop_the_quorum() -> None:
    network = dynamic_quorum(1, 2)
    network.commit(b"a")
    old = network.elect()
    id = old.config.node_id
    network.cut = lambda source, destination: destination != id and source == id
    request = RequestReceived(token="admin", request=remove_request(id), version=0)
    network.step(id, request)
    network.run(10)
    network.kill(id)
    network.start(id)
    network.cut = lambda source, destination: False
    network.commit(b"b")
    assert len(network.elect().running.voters) == 1


def test_a_voter_with_a_new_disk_rejoins_by_itself() -> None:
    network = dynamic_quorum(1, 2, 3)
    network.commit(b"a")
    id = others(network, network.elect())[0]
    network.kill(id)
    del network.hosts[id]
    network.add(id, directory_id=directory(id, 1), auto_join=True)
    wanted = key(id, disk=1)
    network.until(lambda: wanted in network.elect().running.voters.keys)
    network.commit(b"b")
    assert network.hosts[id].values == [b"a", b"b"]


def test_a_voter_that_moved_tells_where_it_is() -> None:
    network = dynamic_quorum(1, 2, 3)
    network.commit(b"a")
    id = others(network, network.elect())[0]
    network.kill(id)
    host = network.hosts.pop(id)
    moved = endpoints(id, 9900 + id)
    network.add(id, host.log, endpoints=moved)
    network.until(lambda: network.elect().running.voters.endpoints(id) == moved)
    network.commit(b"b")


def test_static_voters_are_upgraded_and_then_changed() -> None:
    network = static_quorum(1, 2, 3)
    network.commit(b"a")
    network.run(10_000)
    leader = network.elect()
    event = UpgradeKRaftVersion(token="up", epoch=leader.running.epoch, kraft_version=1)
    effects = network.step(leader.config.node_id, event)
    assert not [effect for effect in effects if isinstance(effect, Rejected)]
    network.commit(b"b")
    assert all(host.running.kraft_version == 1 for host in network.hosts.values())
    assert all(host.running.voters == voter_set(1, 2, 3) for host in network.hosts.values())
    victim = others(network, leader)[0]
    answer = network.ask(leader.config.node_id, remove_request(victim))
    assert code(answer) == ErrorCode.NONE


def test_an_observer_that_comes_late_begins_with_a_snapshot() -> None:
    network = dynamic_quorum(1, 2, 3)
    end = network.commit(b"a", b"b")
    for host in network.hosts.values():
        id = OffsetAndEpoch(offset=end, epoch=host.running.epoch)
        host.log.store_snapshot(id, snapshot(voter_set(1, 2, 3), epoch=id.epoch))
        host.log.clean(id)
    late = network.add(9, MemoryLog(), fetch_snapshot_max_bytes=50)
    network.until(lambda: committed(late) >= end)
    assert late.log.start_offset == end
    assert late.running.voters == voter_set(1, 2, 3)
    network.commit(b"c")
    assert late.values == [b"c"]


def test_an_append_to_who_does_not_lead_that_epoch_is_rejected() -> None:
    for solo, epoch in ((follower(), 5), (leader(), 4)):
        (rejected,) = [
            effect
            for effect in solo.step(Append(token="a", epoch=epoch, records=()))
            if isinstance(effect, Rejected)
        ]
        assert rejected.error == ErrorCode.NOT_CONTROLLER


def test_only_requests_between_replicas_are_answered() -> None:
    with pytest.raises(InvalidValue, match="ApiVersionsRequest"):
        follower().ask(ApiVersionsRequest())


def test_the_bootstrap_snapshot_stays_where_it_was_written() -> None:
    network = dynamic_quorum(1, observers=(9,))
    network.commit(b"a")
    assert BOOTSTRAP_SNAPSHOT not in network.hosts[9].log.snapshots()
    assert network.hosts[9].running.voters == voter_set(1)


FORBIDDEN = {"asyncio", "time", "datetime", "socket", "random", "secrets", "os", "threading"}


def test_the_core_knows_no_io_no_clock_and_no_chance() -> None:
    assert not [
        f"{file.path.relative_to(ROOT)}: {name}"
        for file in source_files("kwire/controller/raft")
        for name in file.imports
        if name.partition(".")[0] in FORBIDDEN
    ]
