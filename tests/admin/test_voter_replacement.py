"""A replacement as it is carried out: what the leader refuses for a moment, or somebody did."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

import pytest

from kwire.admin.client import AdminClient
from kwire.admin.errors import DuplicateVoter, VoterNotFound
from kwire.admin.quorum import QuorumInfo, ReplicaState
from kwire.admin.voter_change_plan import VoterChangePlan
from kwire.admin.voter_replacement import (
    NotReplaced,
    VoterReplacement,
    plan_replacement,
    replace_voter,
)
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT
from tests.support.virtual_time import in_virtual_time

OLD, NEW = UUID(int=1), UUID(int=2)
NOT_READY = BrokerError(ErrorCode.REQUEST_TIMED_OUT, "another change is pending")
PLANNED = VoterReplacement(
    voter_id=3,
    old_directory_id=OLD,
    addition=VoterChangePlan(voter_id=3, directory_id=NEW, checks=()),
)


@dataclass
class Leader:
    """Answers as a leader would: `refusals` first, one for each request of that kind."""

    removals: list[Exception] = field(default_factory=list)
    additions: list[Exception] = field(default_factory=list)
    directory_id: UUID = NEW
    asked: list[str] = field(default_factory=list)

    async def remove_raft_voter(self, *_: Any, **__: Any) -> None:
        self.asked.append("remove")
        if self.removals:
            raise self.removals.pop()

    async def add_raft_voter(self, *_: Any, **__: Any) -> None:
        self.asked.append("add")
        if self.additions:
            raise self.additions.pop()

    async def describe_metadata_quorum(self) -> QuorumInfo:
        voter = ReplicaState(
            replica_id=3,
            replica_directory_id=self.directory_id,
            log_end_offset=9,
            last_fetch_timestamp=1_000,
            last_caught_up_timestamp=1_000,
        )
        return QuorumInfo(
            leader_id=1, leader_epoch=1, high_watermark=9, voters=(voter,), observers=()
        )


async def replaced(leader: Leader) -> list[str]:
    steps: list[str] = []
    await replace_voter(cast(AdminClient, leader), PLANNED, timeout=5.0, on_step=steps.append)
    return steps


@in_virtual_time
async def test_a_leader_that_is_not_ready_is_asked_again() -> None:
    leader = Leader(additions=[NOT_READY, NOT_READY])
    assert [text.split()[0] for text in await replaced(leader)] == ["removed", "added", "voter"]
    assert leader.asked == ["remove", "add", "add", "add"]


@in_virtual_time
async def test_what_somebody_else_has_done_is_left_out() -> None:
    """Another operator removed it, and it joined by itself (controller.quorum.auto.join.enable)."""
    done = Leader(
        removals=[VoterNotFound(ErrorCode.VOTER_NOT_FOUND, None)],
        additions=[DuplicateVoter(ErrorCode.DUPLICATE_VOTER, None)],
    )
    assert len(await replaced(done)) == 3


@in_virtual_time
@pytest.mark.parametrize(
    ("leader", "text"),
    [
        (Leader(additions=[NOT_READY] * 99), "controller 3 does not vote now"),
        (Leader(additions=[BrokerError(ErrorCode.INVALID_REQUEST, "no")]), "does not vote now"),
        (Leader(directory_id=OLD), "does not fetch as a voter after 5 s"),
    ],
    ids=["never ready", "refused", "another disk votes"],
)
async def test_a_step_that_fails_says_what_was_done_before(leader: Leader, text: str) -> None:
    with pytest.raises(NotReplaced, match=text):
        await replaced(leader)


@dataclass
class Clocked:
    """A leader whose voter 3 fetches until a moment: `stopped`, in seconds from now on."""

    stopped: float
    nodes: dict[int, Any] = field(default_factory=dict)
    begun: float = field(default_factory=lambda: time.monotonic())

    async def describe_cluster(self) -> Clocked:
        return self

    async def describe_metadata_quorum(self) -> QuorumInfo:
        passed = time.monotonic() - self.begun

        def replica(id: int, until: float) -> ReplicaState:
            at = 10_000_000 + int(1000 * until)
            return ReplicaState(
                replica_id=id,
                replica_directory_id=UUID(int=id),
                log_end_offset=9,
                last_fetch_timestamp=at,
                last_caught_up_timestamp=at,
            )

        return QuorumInfo(
            leader_id=1,
            leader_epoch=1,
            high_watermark=9,
            voters=(replica(1, passed), replica(3, min(passed, self.stopped))),
            observers=(),
        )


@in_virtual_time
@pytest.mark.parametrize(("stopped", "needed"), [(-0.5, True), (1e9, False)])
async def test_a_voter_that_was_killed_a_moment_ago_does_not_pass_for_alive(
    stopped: float, needed: bool
) -> None:
    admin = cast(AdminClient, Clocked(stopped))
    planned = await plan_replacement(admin, admin, 3, connect=SecureConnect(PLAINTEXT))
    assert planned.needed is needed
