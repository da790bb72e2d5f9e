"""The events of the quorum that an operator asks about: each provoked, by its fields."""

from collections.abc import Callable
from functools import partial

import pytest

from kwire.controller.raft import ElectionState, QuorumEvent, Resign, Shutdown
from kwire.controller.raft import quorum_events as declared
from kwire.controller.raft.quorum_events import (
    ElectionLost,
    ElectionWon,
    FetchOffsetFell,
    HighWatermarkEstablished,
    KRaftVersionChanged,
    LeaderResigned,
    LogTruncated,
    QuorumStateOutdated,
    RoleChanged,
    SnapshotFetchAbandoned,
    SnapshotFetchBegun,
    SnapshotFetched,
    VoteGranted,
    VoterChangeCommitted,
    VoterChangeRefused,
    VoteRejected,
    VoterRequestFailed,
    VotersChanged,
)
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import EpochEndOffset, FetchRequest
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from tests.support.controller.operator_events import kinds_in
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    batches,
    begin_request,
    candidate,
    fetch_request,
    fetch_response,
    follower,
    leader,
    log_with,
    prospective,
    unattached,
    vote_request,
    vote_response,
)
from tests.support.controller.raft.snapshot_download import DATA, ID, downloading, part
from tests.support.controller.raft.virtual_network import key, voter_set
from tests.support.controller.raft.voter_change_states import (
    adding,
    committed_by_2,
    versions_answer,
)
from tests.support.controller.raft.voter_requests import remove_request

Provoke = Callable[[], SingleReplica]
TERM = 10_000  # milliseconds, longer than every timeout of an election


def events(solo: SingleReplica) -> list[QuorumEvent]:
    return [effect for effect in solo.effects if isinstance(effect, QuorumEvent)]


def asked(state: Provoke, request: VoteRequest) -> Provoke:
    def ask() -> SingleReplica:
        solo = state()
        solo.forget()
        solo.ask(request)
        return solo

    return ask


def rejected_by(*voters: int, state: Provoke) -> Provoke:
    """A replica to whose Vote requests these voters say no."""

    def reject() -> SingleReplica:
        solo = state()
        for send, _ in solo.sent(VoteRequest):
            if send.destination.id in voters:
                solo.respond(send, vote_response(5, granted=False))
        return solo

    return reject


def waited(state: Provoke, milliseconds: int) -> Provoke:
    def wait() -> SingleReplica:
        solo = state()
        solo.forget()
        solo.after(milliseconds)
        return solo

    return wait


def elected() -> SingleReplica:
    solo = candidate()
    solo.respond(solo.sent(VoteRequest)[0][0], vote_response(5, granted=True))
    return solo


def shutting_down() -> SingleReplica:
    solo = leader()
    solo.step(Shutdown())
    return solo


def told_to_resign() -> SingleReplica:
    solo = leader()
    solo.step(Resign(epoch=5))
    return solo


def removed_itself() -> SingleReplica:
    solo = leader()
    solo.ask(remove_request(1))
    committed_by_2(solo)
    solo.ask(fetch_request(3, 5, solo.raft.end_offset, 5, max_wait_ms=0))
    return solo


def fetched(**answer: object) -> SingleReplica:
    solo = follower(log=log_with(1, 1, 3, 3))
    send, _ = solo.sent(FetchRequest)[-1]
    solo.respond(send, fetch_response(5, **answer))  # type: ignore[arg-type]
    return solo


def downloaded(*, error: int = 0) -> SingleReplica:
    solo = downloading()
    send, _ = solo.sent(FetchSnapshotRequest)[-1]
    solo.respond(send, part(b"" if error else DATA, 0, error=error))
    return solo


def committed() -> SingleReplica:
    solo = elected()
    committed_by_2(solo)
    return solo


def added() -> SingleReplica:
    solo = adding()
    versions_answer(solo)
    committed_by_2(solo)
    solo.ask(fetch_request(4, 5, solo.raft.end_offset, 5, max_wait_ms=0))
    return solo


def refused_as_observer() -> SingleReplica:
    solo = follower(voters=voter_set(2, 3), auto_join=True)
    send, _ = solo.sent(FetchRequest)[-1]
    solo.now += solo.config.fetch_timeout_ms
    solo.respond(send, fetch_response(5))
    send, _ = solo.sent(AddRaftVoterRequest)[-1]
    answer = AddRaftVoterResponse(
        error_code=ErrorCode.REQUEST_TIMED_OUT, error_message="Voter 1 lags behind."
    )
    solo.respond(send, answer)
    return solo


def fetched_from_before() -> SingleReplica:
    solo = leader(log=log_with(1, 1))
    solo.ask(fetch_request(2, 5, 1, 1, max_wait_ms=0))
    return solo


def outdated() -> SingleReplica:
    return SingleReplica(election=ElectionState(epoch=2), log=log_with(1, 3))


def longer() -> SingleReplica:
    return unattached(log=log_with(1, 1))


def refused() -> SingleReplica:
    solo = leader()
    solo.ask(remove_request(7))
    return solo


def role(
    role: str, before: str, reason: str, leader_id: int | None = None, epoch: int = 5
) -> RoleChanged:
    return RoleChanged(role=role, before=before, epoch=epoch, leader_id=leader_id, reason=reason)


def rejection(reason: str, *, epoch: int = 5, pre_vote: bool = False) -> VoteRejected:
    return VoteRejected(candidate=key(2), epoch=epoch, pre_vote=pre_vote, reason=reason)


def lost(
    reason: str, rejecting: tuple[int, ...], silent: tuple[int, ...], *, pre_vote: bool = False
) -> ElectionLost:
    return ElectionLost(
        epoch=5,
        pre_vote=pre_vote,
        reason=reason,
        rejecting_voters=rejecting,
        silent_voters=silent,
    )


def resignation(reason: str, voters: tuple[int, ...] = (1, 2, 3)) -> LeaderResigned:
    return LeaderResigned(epoch=5, reason=reason, voters=voters, fetched_voters=())


GREATER = "greater epoch, leader not known"
REJECTED, SILENT = "too many voters rejected", "no majority answered in time"
BEHIND = "its log ends before this one"
DIVERGING = EpochEndOffset(epoch=2, end_offset=9)
GONE = ErrorCode.SNAPSHOT_NOT_FOUND

PROVOKED: list[tuple[Provoke, QuorumEvent]] = [
    (candidate, role("candidate", "none", "start")),
    (prospective, role("prospective", "unattached", "election timeout")),
    (elected, role("leader", "candidate", "majority of votes", 1)),
    (shutting_down, role("resigned", "leader", "resignation", 1)),
    (asked(leader, vote_request(6)), role("unattached", "leader", GREATER, epoch=6)),
    (asked(unattached, vote_request(5)), VoteGranted(candidate=key(2), epoch=5, pre_vote=False)),
    (
        asked(unattached, vote_request(5, pre_vote=True)),
        VoteGranted(candidate=key(2), epoch=5, pre_vote=True),
    ),
    (asked(leader, vote_request(5)), rejection("controller 1 leads this epoch")),
    (asked(follower, vote_request(5)), rejection("controller 2 leads this epoch")),
    (asked(candidate, vote_request(5)), rejection(f"the vote of this epoch went to {key(1)}")),
    (asked(longer, vote_request(5)), rejection(BEHIND)),
    (asked(longer, vote_request(5, pre_vote=True)), rejection(BEHIND, pre_vote=True)),
    (
        asked(unattached, vote_request(4)),
        rejection("FENCED_LEADER_EPOCH, in epoch 5 here", epoch=4),
    ),
    (
        asked(unattached, vote_request(5, voter=key(7))),
        rejection(f"the request is for voter {key(7)}"),
    ),
    (elected, ElectionWon(epoch=5, granting_voters=(1, 2))),
    (rejected_by(2, 3, state=candidate), lost(REJECTED, (2, 3), ())),
    (rejected_by(2, 3, state=prospective), lost(REJECTED, (2, 3), (), pre_vote=True)),
    (waited(candidate, TERM), lost(SILENT, (), (2, 3))),
    (waited(prospective, TERM), lost(SILENT, (), (2, 3), pre_vote=True)),
    (shutting_down, resignation("it shuts down")),
    (told_to_resign, resignation("its state machine cannot lead")),
    (removed_itself, resignation("it was removed from the voters", (2, 3))),
    (waited(leader, 3_000), resignation("no majority fetched within 3000 ms")),
    (committed, HighWatermarkEstablished(epoch=5, high_watermark=3)),
    (
        partial(fetched, high_watermark=3),
        HighWatermarkEstablished(epoch=5, high_watermark=3),
    ),
    (
        partial(fetched, diverging_epoch=DIVERGING),
        LogTruncated(offset=2, end_offset=4, leader_id=2),
    ),
    (downloading, SnapshotFetchBegun(snapshot=ID, leader_id=2)),
    (
        partial(downloaded, error=GONE),
        SnapshotFetchAbandoned(snapshot=ID, leader_id=2, error="SNAPSHOT_NOT_FOUND"),
    ),
    (downloaded, SnapshotFetched(snapshot=ID)),
    (follower, VotersChanged(voters=(key(1), key(2), key(3)), offset=-1)),
    (removed_itself, VotersChanged(voters=(key(2), key(3)), offset=3)),
    (follower, KRaftVersionChanged(kraft_version=1)),
    (added, VoterChangeCommitted(request="AddRaftVoter", voter=key(4), offset=3)),
    (removed_itself, VoterChangeCommitted(request="RemoveRaftVoter", voter=key(1), offset=3)),
    (
        refused,
        VoterChangeRefused(
            request="RemoveRaftVoter",
            voter=key(7),
            error="VOTER_NOT_FOUND",
            reason=f"{key(7)} cannot be removed from the voters {key(1)}, {key(2)}, {key(3)}.",
        ),
    ),
    (
        refused_as_observer,
        VoterRequestFailed(
            request="AddRaftVoter",
            leader_id=2,
            error="REQUEST_TIMED_OUT",
            reason="Voter 1 lags behind.",
        ),
    ),
    (outdated, QuorumStateOutdated(epoch=2, log_epoch=3)),
    (fetched_from_before, FetchOffsetFell(replica=key(2), before=5, offset=1)),
]


def _id(row: tuple[Provoke, QuorumEvent]) -> str:
    event = row[1]
    reason = event.values.get("reason")
    return f"{type(event).__name__}: {reason}" if reason else type(event).__name__


@pytest.mark.parametrize(("provoke", "event"), PROVOKED, ids=map(_id, PROVOKED))
def test_a_replica_tells_its_operator_once_what_happened(
    provoke: Provoke, event: QuorumEvent
) -> None:
    assert events(provoke()).count(event) == 1


def test_every_kind_of_event_is_provoked() -> None:
    assert {type(event) for _, event in PROVOKED} == set(kinds_in(declared))


def test_heartbeats_and_fetches_are_no_events() -> None:
    solo = leader()
    for _ in range(3):
        solo.ask(fetch_request(2, 5, solo.raft.end_offset, 5, max_wait_ms=0))
        solo.after(solo.config.begin_quorum_epoch_interval_ms)
    following = follower()
    for offset in range(4):
        send, _ = following.sent(FetchRequest)[-1]
        answer = fetch_response(5, records=batches(offset, 5), high_watermark=offset)
        following.respond(send, answer)
        following.ask(begin_request(5))
        if not offset:
            first = events(following)
    assert events(solo) == []
    assert events(following) == first
