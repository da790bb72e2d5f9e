"""A controller's new disk votes in place of its old one: `kwire quorum replace`.

KIP-853 has no request for it. It takes a removal and an addition, in this order, since a voter set
has an id once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from kwire.admin.cluster_description import ClusterNode
from kwire.admin.deadline import Deadline
from kwire.admin.errors import DuplicateVoter, VoterNotFound
from kwire.admin.quorum import SILENT_MS, QuorumInfo, is_silent
from kwire.admin.voter_change_plan import (
    CheckVerdict,
    VoterChangeCheck,
    VoterChangePlan,
    addition,
    removal,
    with_answers,
)
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, KwireError
from kwire.net.secure_connect import SecureConnect
from kwire.net.timeouts import Timeouts
from kwire.text.ids import uuid_text

if TYPE_CHECKING:
    from kwire.admin.client import AdminClient


ALIVE_MS = 1_500
"""Milliseconds within which a voter that runs fetches again: three times its longest pause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterReplacement:
    """A voter's old directory id, None if it does not vote any more, and the addition of the new.

    needed: False if the controller votes with the disk that it has, and fetches.
    """

    voter_id: int
    old_directory_id: UUID | None
    addition: VoterChangePlan
    needed: bool = True


class NotReplaced(KwireError):
    """A step of the replacement failed; the sentence says which, and what was done before."""


def replacement(
    quorum: QuorumInfo, controllers: Iterable[ClusterNode], voter_id: int
) -> VoterReplacement:
    """Plan that the disk with which a controller follows votes in place of the one that voted.

    1. Nothing is needed if the voter fetches, and nobody else does with its id.
    2. A voter that fetches beside an observer of its id is a second process: both may not run.
    3. Without the old voter a majority must be fetching, and the addition must pass its checks.
    """
    old = next((voter for voter in quorum.voters if voter.replica_id == voter_id), None)
    others = tuple(voter for voter in quorum.voters if voter is not old)
    planned = addition(replace(quorum, voters=others), controllers, voter_id)
    silent_ms = quorum.silent_ms(old) if old else None
    observes = any(
        replica.replica_id == voter_id and not is_silent(quorum, replica)
        for replica in quorum.observers
    )
    checks = planned.checks
    if old is not None:
        checks = (*removal(quorum, voter_id).checks, *checks)
    if silent_ms is not None and silent_ms <= SILENT_MS:
        # 2. A moment ago it may also have been killed; that shows in SILENT_MS.
        text = f"voter {voter_id} fetched {silent_ms / 1000:.1f} s ago: stop it if it still runs"
        checks = (VoterChangeCheck(CheckVerdict.PROBLEM, text),)
    return VoterReplacement(
        voter_id=voter_id,
        old_directory_id=old.replica_directory_id if old else None,
        addition=replace(planned, checks=tuple(dict.fromkeys(checks))),
        needed=observes or silent_ms is None or silent_ms > ALIVE_MS,  # 1.
    )


async def plan_replacement(
    admin: AdminClient,
    controllers: AdminClient,
    voter_id: int,
    *,
    connect: SecureConnect,
    wait: float | None = None,
) -> VoterReplacement:
    """Ask the cluster for the plan, again for `wait` seconds while it has problems; None: once.

    A controller that has just started takes a moment to follow, to register and to answer. That
    nothing is needed takes a second look, ALIVE_MS later: a process that was killed a moment ago
    has fetched, too.

    controllers: a client of the controllers themselves; `admin` if it is one.
    """
    deadline = None if wait is None else Deadline(Timeouts(operation=wait))
    seemed_alive = False
    while True:
        quorum = await admin.describe_metadata_quorum()
        nodes = (await controllers.describe_cluster()).nodes.values()
        planned = replacement(quorum, nodes, voter_id)
        if not planned.needed and not seemed_alive:
            seemed_alive = True
            await asyncio.sleep(ALIVE_MS / 1000)
            continue
        if planned.needed and not planned.addition.problems:
            checked = await with_answers(planned.addition, connect)
            planned = replace(planned, addition=checked)
        static = all(voter.replica_directory_id is None for voter in quorum.voters)
        waits = planned.needed and planned.addition.problems and not static
        if not waits or deadline is None or not await deadline.pause():
            return planned


async def replace_voter(
    admin: AdminClient,
    planned: VoterReplacement,
    *,
    timeout: float,
    on_step: Callable[[str], None],
) -> None:
    """Carry out a plan that has no problems; a repetition goes on where it stopped.

    1. Remove the old directory id, unless it is gone.
    2. Add the new one; ask again while the leader says that it is not ready. A controller that
       joins by itself may have been first.
    3. Wait until the leader has it among the voters and it fetches.

    timeout: seconds for each step. on_step: is called with a sentence after each.

    Raises NotReplaced if time runs out, and the BrokerError of a step that was refused.
    """
    node_id, new = planned.voter_id, planned.addition.directory_id
    assert new is not None
    if planned.old_directory_id is not None:
        # 1.
        with suppress(VoterNotFound):
            await admin.remove_raft_voter(node_id, planned.old_directory_id, timeout=timeout)
        on_step(f"removed voter {node_id} with directory id {uuid_text(planned.old_directory_id)}")
    # 2.
    deadline = Deadline(Timeouts(operation=timeout))
    while True:
        try:
            await admin.add_raft_voter(
                node_id, new, planned.addition.endpoints, timeout=deadline.remaining
            )
        except DuplicateVoter:
            pass  # 3. tells if it is the new one
        except BrokerError as error:
            if error.code != ErrorCode.REQUEST_TIMED_OUT or not await deadline.pause():
                raise NotReplaced(_not_added(node_id, error)) from error
            continue
        except KwireError as error:
            raise NotReplaced(_not_added(node_id, error)) from error
        break
    on_step(f"added voter {node_id} with directory id {uuid_text(new)}")
    # 3.
    deadline = Deadline(Timeouts(operation=timeout))
    while not _votes(await admin.describe_metadata_quorum(), node_id, new):
        if not await deadline.pause():
            raise NotReplaced(
                f"voter {node_id} was added and does not fetch as a voter after {timeout:g} s: run"
                " kwire doctor"
            )
    on_step(f"voter {node_id} fetches from the leader")


def _votes(quorum: QuorumInfo, node_id: int, directory_id: UUID) -> bool:
    return any(
        (voter.replica_id, voter.replica_directory_id) == (node_id, directory_id)
        and not is_silent(quorum, voter)
        for voter in quorum.voters
    )


def _not_added(node_id: int, error: KwireError) -> str:
    return (
        f"controller {node_id} does not vote now: its old directory id is removed, and adding the"
        f" new one failed: {error}; run kwire quorum replace {node_id} again when that is mended"
    )
