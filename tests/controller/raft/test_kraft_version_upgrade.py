"""kraft.version 0 and 1: which records the leader writes, and how one becomes the other."""

from collections.abc import Callable

import pytest

from kwire.batches import read_batches
from kwire.batches.control_records import read_control_record
from kwire.controller.raft import ElectionState, PersistElection, Rejected, UpgradeKRaftVersion
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchResponse
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    begin_request,
    fetch_request,
    follower,
    leader,
    only,
    static_leader,
)
from tests.support.controller.raft.virtual_network import (
    static_voters,
    voter_set,
)
from tests.support.controller.raft.voter_requests import update_request

State = Callable[[], SingleReplica]


def control_records(solo: SingleReplica) -> list[str]:
    data = solo.log.read(0, 1 << 20)
    records = [record for batch in read_batches(data) for record in batch.records()]
    return [type(read_control_record(record).message).__name__ for record in records]


def test_the_first_leader_copies_the_voters_from_the_checkpoint_into_the_log() -> None:
    solo = leader()
    names = ["LeaderChangeMessage", "KRaftVersionRecord", "VotersRecord"]
    assert control_records(solo) == names
    assert len(list(read_batches(solo.log.read(0, 1 << 20)))) == 1


def test_the_first_leader_of_static_voters_writes_none() -> None:
    assert control_records(static_leader()) == ["LeaderChangeMessage"]


def test_the_bootstrap_checkpoint_is_never_offered() -> None:
    solo = leader()
    response = only(solo.ask(fetch_request(4, 5, 0, 0)), FetchResponse)
    answer = response.responses[0].partitions[0]
    assert answer.snapshot_id is None
    assert answer.records


def upgrade(solo: SingleReplica, level: int = 1, **changes: bool) -> Rejected | None:
    solo.forget()
    solo.step(UpgradeKRaftVersion(token="up", epoch=5, kraft_version=level, **changes))
    found = [effect for effect in solo.effects if isinstance(effect, Rejected)]
    return found[0] if found else None


def updated_by_all() -> SingleReplica:
    solo = static_leader()
    for id in (2, 3):
        solo.ask(update_request(id, port=9000 + id))
    return solo


def test_static_voters_become_dynamic_when_all_have_told_what_they_can() -> None:
    solo = updated_by_all()
    assert solo.raft.voters == static_voters(1, 2, 3)
    assert upgrade(solo) is None
    assert solo.raft.kraft_version == 1
    assert solo.raft.voters == voter_set(1, 2, 3)
    assert control_records(solo)[1:] == ["KRaftVersionRecord", "VotersRecord"]


def test_an_upgrade_that_is_only_validated_writes_nothing() -> None:
    solo = updated_by_all()
    assert upgrade(solo, validate_only=True) is None
    assert solo.raft.kraft_version == 0


UPGRADES: list[tuple[str, State, int, int]] = [
    ("a voter has not told", static_leader, 1, ErrorCode.INVALID_UPDATE_VERSION),
    ("a downgrade", leader, 0, ErrorCode.INVALID_UPDATE_VERSION),
    ("not supported", updated_by_all, 2, ErrorCode.INVALID_UPDATE_VERSION),
    ("not the leader", follower, 1, ErrorCode.NOT_CONTROLLER),
]


@pytest.mark.parametrize(
    ("state", "level", "error"), [row[1:] for row in UPGRADES], ids=[row[0] for row in UPGRADES]
)
def test_which_upgrades_are_refused(state: State, level: int, error: int) -> None:
    refused = upgrade(state(), level)
    assert refused is not None
    assert refused.error == error


def test_the_level_that_is_there_already_needs_no_record() -> None:
    solo = leader()
    end = solo.raft.end_offset
    assert upgrade(solo) is None
    assert solo.raft.end_offset == end


def test_quorum_state_is_written_at_version_1_from_the_upgrade_on() -> None:
    solo = updated_by_all()
    upgrade(solo)
    solo.ask(begin_request(6))
    (written,) = [e for e in solo.effects if isinstance(e, PersistElection)]
    assert (written.version, written.data.current_voters) == (1, [])
    static = static_leader()
    static.ask(begin_request(6))
    (written,) = [e for e in static.effects if isinstance(e, PersistElection)]
    assert written.version == 0
    assert [v.voter_id for v in written.data.current_voters or []] == [1, 2, 3]
    assert ElectionState.from_data(written.data) == ElectionState(epoch=6, leader_id=2)
