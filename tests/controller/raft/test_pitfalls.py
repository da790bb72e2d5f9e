"""Regression tests for the faults of the first controller in Python that met real Kafka.

The numbers are those of the list that the experiment left; those missing here are not raft's.
"""

import pytest

from kwire.batches import Record, read_batches
from kwire.batches.control_records import read_control_record
from kwire.controller.raft import (
    Append,
    Appended,
    BecomeLeader,
    Commit,
    FlushLog,
    LogFlushed,
    OffsetAndEpoch,
    PersistElection,
    Reply,
    RequestReceived,
)
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochResponse
from kwire.messages.a80_add_raft_voter import Listener
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    batches,
    end_request,
    fetch_request,
    fetch_response,
    follower,
    leader,
    log_with,
    observer,
    only,
    vote_request,
    vote_response,
)
from tests.support.controller.raft.virtual_network import dynamic_quorum, key, snapshot, voter_set
from tests.support.controller.raft.voter_requests import add_request, remove_request


def answered_high_watermark(solo: SingleReplica, by: int = 3) -> int:
    request = fetch_request(by, solo.raft.epoch, 0, 0, max_wait_ms=0)
    return only(solo.ask(request), FetchResponse).responses[0].partitions[0].high_watermark


def test_1_a_new_leader_tells_no_high_watermark_until_its_own_record_is_committed() -> None:
    solo = follower()
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(5, records=batches(0, 5, 5, 5), high_watermark=3))
    assert solo.raft.high_watermark == 3
    solo.ask(end_request(5, [key(1)]))
    for _ in ("pre-vote", "vote"):
        send, asked = solo.sent(VoteRequest)[-1]
        epoch = asked.topics[0].partitions[0].replica_epoch
        solo.respond(send, vote_response(epoch, granted=True))
    assert solo.raft.role == "leader"
    assert answered_high_watermark(solo) == -1
    solo.ask(fetch_request(2, 6, 3, 5, max_wait_ms=0))
    assert answered_high_watermark(solo) == -1, "older records are not committed by counting"
    solo.ask(fetch_request(2, 6, 4, 6, max_wait_ms=0))
    assert answered_high_watermark(solo) == 4


def test_1_no_observer_ever_sees_the_high_watermark_go_down() -> None:
    network = dynamic_quorum(1, 2, 3, observers=(9,))
    for value in (b"a", b"b", b"c"):
        network.commit(value)
        killed = network.elect().config.node_id
        network.kill(killed)
        network.commit(value)
        network.start(killed)
    told = [e.high_watermark for e in network.hosts[9].history if isinstance(e, Commit)]
    assert told == sorted(told)
    assert network.hosts[9].values == [b"a", b"a", b"b", b"b", b"c", b"c"]


def test_2_commits_are_counted_over_the_latest_even_uncommitted_voters() -> None:
    solo = leader()
    solo.ask(remove_request(3))
    end = solo.raft.end_offset
    assert solo.raft.high_watermark == end - 1
    solo.ask(fetch_request(3, 5, end, 5, max_wait_ms=0))
    assert solo.raft.high_watermark == end - 1, "3 is none of them any more"
    solo.ask(fetch_request(2, 5, end, 5, max_wait_ms=0))
    assert solo.raft.high_watermark == end


@pytest.mark.parametrize(
    ("epoch", "error"),
    [
        (4, ErrorCode.FENCED_LEADER_EPOCH),
        (6, ErrorCode.UNKNOWN_LEADER_EPOCH),
        (5, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_3_a_follower_sends_a_stranded_broker_to_the_leader(epoch: int, error: int) -> None:
    response = only(follower().ask(fetch_request(9, epoch, 0, 0)), FetchResponse)
    answer = response.responses[0].partitions[0]
    assert answer.error_code == error
    assert answer.current_leader is not None
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (2, 5)
    (node,) = response.node_endpoints
    assert (node.node_id, node.host, node.port) == (2, "c2", 9002)


def test_4_a_broker_whose_leader_died_asks_every_bootstrap_server() -> None:
    network = dynamic_quorum(1, 2, 3, observers=(9,))
    network.commit(b"a")
    network.kill(network.elect().config.node_id)
    network.commit(b"b")
    assert network.hosts[9].running.leader_id == network.elect().config.node_id


def test_5_a_fetch_is_answered_at_once_when_the_high_watermark_is_news() -> None:
    solo = leader()
    end = solo.raft.end_offset
    request = fetch_request(3, 5, end, 5, high_watermark=end - 1)
    answer = only(solo.ask(request), FetchResponse).responses[0].partitions[0]
    assert answer.high_watermark == end


def test_5_a_waiting_fetch_is_answered_when_the_high_watermark_rises() -> None:
    solo = leader(committed=False)
    end = solo.raft.end_offset
    assert solo.ask(fetch_request(4, 5, end, 5), version=17) == []
    token = solo.last_token
    solo.ask(fetch_request(2, 5, end, 5, max_wait_ms=0))
    answer = only(solo.replies(token), FetchResponse).responses[0].partitions[0]
    assert answer.high_watermark == end


def test_6_an_append_tells_the_offset_of_its_first_record() -> None:
    solo = leader()
    end = solo.raft.end_offset
    records = (Record(value=b"a"), Record(value=b"b"))
    effects = solo.step(Append(token="a", epoch=5, records=records))
    assert Appended(token="a", base_offset=end, end_offset=end + 2) in effects


def test_12a_a_leader_announces_itself_until_the_voters_fetch() -> None:
    solo = leader(committed=False)
    solo.after(solo.config.request_timeout_ms)
    told = [send.destination.id for send, _ in solo.sent(BeginQuorumEpochRequest)]
    assert told == [2, 3]


def test_12b_a_leader_without_a_majority_resigns() -> None:
    solo = leader()
    solo.after(solo.config.fetch_timeout_ms * 3 // 2)
    assert solo.raft.role == "resigned"


def test_12c_a_resigned_leader_that_still_names_itself_is_not_asked_in_a_loop() -> None:
    solo = follower()
    answered = 0
    for _ in range(100):
        for send, _request in solo.sent(FetchRequest)[answered:]:
            answered += 1
            solo.respond(send, fetch_response(5, 2, error=ErrorCode.NOT_LEADER_OR_FOLLOWER))
        solo.after(1)
    to_leader = [send for send, _ in solo.sent(FetchRequest) if send.destination.id == 2]
    assert len(to_leader) <= 100 // solo.config.retry_backoff_ms + 1


def test_13_a_fetch_at_offset_0_gets_the_snapshot_as_soon_as_there_is_one() -> None:
    log = log_with(1, 1, 2)
    id = OffsetAndEpoch(offset=2, epoch=1)
    log.store_snapshot(id, snapshot(voter_set(1, 2, 3), epoch=1))
    solo = leader(log=log)
    answer = only(solo.ask(fetch_request(9, 5, 0, 0)), FetchResponse).responses[0].partitions[0]
    assert answer.snapshot_id is not None
    log.clean(id)
    fits = only(solo.ask(fetch_request(9, 5, 2, 1)), FetchResponse).responses[0].partitions[0]
    assert fits.records, "where the snapshot ends, its epoch counts"


def test_14_a_greater_epoch_and_the_vote_are_on_the_disk_before_the_answer() -> None:
    solo = follower()
    request = RequestReceived(token="v", request=vote_request(9), version=2)
    effects = solo.step(request)
    reply = next(i for i, effect in enumerate(effects) if isinstance(effect, Reply))
    writes = [i for i, effect in enumerate(effects) if isinstance(effect, PersistElection)]
    assert writes
    assert max(writes) < reply


def test_15_the_new_voter_is_asked_at_the_default_listener() -> None:
    solo = leader()
    both = [
        Listener(name="EXTERNAL", host="far", port=1),
        Listener(name="CONTROLLER", host="near", port=2),
    ]
    solo.ask(add_request(listeners=both))
    send, _ = solo.sent(ApiVersionsRequest)[-1]
    assert (send.destination.host, send.destination.port) == ("near", 2)


def test_21_neither_follower_nor_leader_counts_what_is_not_flushed() -> None:
    solo = leader(voters=voter_set(1))
    solo.flushes = False
    committed = solo.raft.high_watermark
    effects = solo.step(Append(token="a", epoch=5, records=(Record(value=b"a"),)))
    (flush,) = [effect for effect in effects if isinstance(effect, FlushLog)]
    assert solo.raft.high_watermark == committed
    solo.step(LogFlushed(offset=flush.offset))
    assert solo.raft.high_watermark == flush.offset


def test_an_old_leaders_old_resignation_is_answered_with_the_present_epoch() -> None:
    solo = follower(epoch=6)
    answer = only(solo.ask(end_request(4)), EndQuorumEpochResponse).topics[0].partitions[0]
    assert (answer.error_code, answer.leader_epoch) == (ErrorCode.FENCED_LEADER_EPOCH, 6)
    assert solo.raft.role == "follower"


def test_leader_change_messages_are_written_at_version_0_as_kafka_does() -> None:
    solo = leader(committed=False)
    (batch,) = read_batches(solo.log.read(0, 1 << 20))
    record = read_control_record(next(iter(batch.records())))
    assert isinstance(record.message, LeaderChangeMessage)
    assert record.message.version == 0
    assert [voter.voter_id for voter in record.message.voters] == [1, 2, 3]
    assert [voter.voter_id for voter in record.message.granting_voters] == [1, 2]


def test_the_state_machine_may_write_only_when_its_epoch_has_committed() -> None:
    solo = leader(committed=False)
    assert not [effect for effect in solo.effects if isinstance(effect, BecomeLeader)]
    solo.ask(fetch_request(2, 5, solo.raft.end_offset, 5, max_wait_ms=0))
    assert BecomeLeader(epoch=5, epoch_start_offset=0) in solo.effects


def test_an_observer_appends_from_the_answer_that_tells_it_the_leader() -> None:
    solo = observer()
    send, _ = solo.sent(FetchRequest)[-1]
    records = leader().log.read(0, 1 << 20)
    told = fetch_response(5, records=records, high_watermark=3, names_endpoint=True)
    solo.respond(send, told)
    told_again = solo.sent(FetchRequest)[-1][1].topics[0].partitions[0]
    assert told_again.current_leader_epoch == 5
