"""Members of groups of the classic protocol after each error of their coordinator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kwire.codec.declaration import Request
from kwire.conform.clients.case import ClientCase, ClientSection, ClientTask
from kwire.conform.clients.cluster import Cluster, MemberGroup
from kwire.conform.clients.judges import DIFFERS, demand_calm, demand_recovery
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import (
    NodeAction,
    NodeReply,
    ScriptRule,
    Turn,
    changed,
    gives,
    meanwhile,
    once,
    until_sent,
)
from kwire.conform.expectation import expect
from kwire.conform.vocabulary import Deviation, guide, kip
from kwire.error_codes import ErrorCode as Code
from kwire.messages.a08_offset_commit import OffsetCommitRequest
from kwire.messages.a09_offset_fetch import OffsetFetchRequest, OffsetFetchResponse
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest
from kwire.messages.a11_join_group import JoinGroupRequest
from kwire.messages.a12_heartbeat import HeartbeatRequest
from kwire.messages.a14_sync_group import SyncGroupRequest
from kwire.messages.registry import api_name

SECTION = ClientSection("client/groups", "Members of a group do what errors tell them")

NOT_HERE = (Code.NOT_COORDINATOR, Code.COORDINATOR_NOT_AVAILABLE)
"""The errors after which the coordinator has to be looked for."""


def demand_honest_commit(play: Play) -> None:
    """Demand that offsets are committed if the program says so."""
    end = max(log.end for log in play.cluster.logs())
    groups = play.cluster.groups.values()
    kept = [known.committed_offset for group in groups for known in group.offsets.values()]
    if play.printed("committed") and end not in kept:
        raise Deviation(f"the offset {end} committed, as the program says", f"{kept}")


def demand_going_on(play: Play, api: type[Request], error: str) -> None:
    """Demand that the member goes on after an error."""
    demand_honest_commit(play)
    demand_calm(play, play.sent())
    demand_recovery(play, f"{error} for {api_name(api.key or 0)}")


def demand_search(play: Play, api: type[Request]) -> None:
    """Demand that a client that goes on after an error has looked for the coordinator before."""
    fault = play.scripted(api)[0]
    again = play.after(fault, api)
    if again and not play.after(fault, FindCoordinatorRequest):
        raise Deviation("FindCoordinator after the error", f"{again[0].name} at once", DIFFERS)


def _demand_new_member(play: Play, api: type[Request]) -> None:
    again = play.after(play.scripted(api)[0], JoinGroupRequest)
    member = again[0].body.member_id if again else ""
    if member:
        raise Deviation("JoinGroup without the unknown member id", f"with {member}", DIFFERS)


def _demand_rejoin(play: Play, api: type[Request]) -> None:
    again = play.after(play.scripted(api)[0], SyncGroupRequest, JoinGroupRequest)
    expect(not again or isinstance(again[0].body, JoinGroupRequest), "JoinGroup first", "SyncGroup")


def groups_change(change: Callable[[MemberGroup], object]) -> NodeAction:
    """Let every group change, then answer as the cluster does."""

    def happens(cluster: Cluster) -> None:
        for group in cluster.groups.values():
            change(group)

    return meanwhile(happens)


def forget_member(group: MemberGroup) -> None:
    """Let a group know no member."""
    group.member_id = ""
    group.pending.clear()


def _next_generation(group: MemberGroup) -> None:
    group.generation += 1


_DEMANDS: dict[Code, tuple[str, Callable[[Play, type[Request]], None]]] = {
    Code.NOT_COORDINATOR: ("looks for the coordinator", demand_search),
    Code.COORDINATOR_NOT_AVAILABLE: ("looks for the coordinator", demand_search),
    Code.COORDINATOR_LOAD_IN_PROGRESS: ("asks again", lambda play, api: None),
    Code.UNSTABLE_OFFSET_COMMIT: ("asks again", lambda play, api: None),
    Code.UNKNOWN_MEMBER_ID: ("joins as a new member", _demand_new_member),
    Code.ILLEGAL_GENERATION: ("joins again", _demand_rejoin),
    Code.REBALANCE_IN_PROGRESS: ("joins again", _demand_rejoin),
}
_EVENTS = {
    Code.UNKNOWN_MEMBER_ID: groups_change(forget_member),
    Code.ILLEGAL_GENERATION: groups_change(_next_generation),
}


def _declare(number: int, api: type[Request], code: Code) -> None:
    text, demand = _DEMANDS[code]

    def judge(play: Play) -> None:
        if api is not FindCoordinatorRequest:
            demand(play, api)
        demand_going_on(play, api, code.name)

    def rules() -> list[ScriptRule]:
        fault = ScriptRule(
            api=api,
            action=_EVENTS.get(code, gives(code)),
            # A first JoinGroup has no member id that could be unknown.
            when=lambda body: api is not JoinGroupRequest or code not in _EVENTS or body.member_id,
        )
        then = FindCoordinatorRequest if code in NOT_HERE else JoinGroupRequest
        return until_sent(fault, then) if api is HeartbeatRequest else [fault]

    SECTION[number] = ClientCase(
        sentence=f"After {code.name} for {api_name(api.key or 0)} a member {text}, and goes on.",
        source=guide("Error Codes"),
        task=ClientTask.GROUP,
        judge=judge,
        rules=rules,
        may_fail=True,
    )


for number, api, code in (
    (1, FindCoordinatorRequest, Code.COORDINATOR_NOT_AVAILABLE),
    (2, JoinGroupRequest, Code.COORDINATOR_LOAD_IN_PROGRESS),
    (3, JoinGroupRequest, Code.NOT_COORDINATOR),
    (4, JoinGroupRequest, Code.UNKNOWN_MEMBER_ID),
    (5, JoinGroupRequest, Code.REBALANCE_IN_PROGRESS),
    (6, SyncGroupRequest, Code.COORDINATOR_NOT_AVAILABLE),
    (7, SyncGroupRequest, Code.REBALANCE_IN_PROGRESS),
    (8, SyncGroupRequest, Code.ILLEGAL_GENERATION),
    (9, SyncGroupRequest, Code.UNKNOWN_MEMBER_ID),
    (10, HeartbeatRequest, Code.NOT_COORDINATOR),
    (11, HeartbeatRequest, Code.COORDINATOR_NOT_AVAILABLE),
    (12, HeartbeatRequest, Code.REBALANCE_IN_PROGRESS),
    (13, HeartbeatRequest, Code.ILLEGAL_GENERATION),
    (14, HeartbeatRequest, Code.UNKNOWN_MEMBER_ID),
    (15, OffsetCommitRequest, Code.COORDINATOR_LOAD_IN_PROGRESS),
    (16, OffsetCommitRequest, Code.NOT_COORDINATOR),
):
    _declare(number, api, code)


def committed_before(answer: OffsetFetchResponse) -> None:
    """Let the first record be read and committed."""
    parts: list[Any] = [answer, *answer.groups]
    for part in (part for whole in parts for topic in whole.topics for part in topic.partitions):
        part.committed_offset = 1


def _offsets_refused(code: Code) -> NodeAction:
    """Refuse where a coordinator does: partitions, the whole from v2 on, a group from v8 on."""

    def action(turn: Turn) -> NodeReply:
        if turn.request.version < 2 or code is Code.UNSTABLE_OFFSET_COMMIT:
            return gives(code)(turn)
        answer: Any = turn.unchanged()
        for part in answer.groups or [answer]:
            part.error_code, part.topics = code, []
        return NodeReply(data=turn.framed(answer))

    return action


def offset_fetch_case(task: ClientTask, code: Code) -> ClientCase:
    """Return a case of an error of OffsetFetch: it says nothing of what is committed."""

    def judge(play: Play) -> None:
        expect("r0" not in play.printed("received"), "records from the committed offset on", "r0")
        demand_going_on(play, OffsetFetchRequest, code.name)

    return ClientCase(
        sentence=f"After {code.name} for OffsetFetch a member asks again, and reads from there.",
        source=guide("Error Codes"),
        task=task,
        judge=judge,
        rules=lambda: [
            ScriptRule(
                api=OffsetFetchRequest,
                action=_offsets_refused(code),
                when=lambda body: code is not Code.UNSTABLE_OFFSET_COMMIT or body.require_stable,
            ),
            ScriptRule(
                api=OffsetFetchRequest, action=changed(committed_before), times=None, is_aid=True
            ),
        ],
        arrange=lambda cluster: cluster.fill(next(iter(cluster.topics)), ["r3"]),
        may_fail=True,
    )


for number, code in (
    (20, Code.COORDINATOR_LOAD_IN_PROGRESS),
    (21, Code.NOT_COORDINATOR),
    (22, Code.UNSTABLE_OFFSET_COMMIT),
):
    SECTION[number] = offset_fetch_case(ClientTask.GROUP, code)


def failed_commit_case(task: ClientTask, code: Code) -> ClientCase:
    """Return a case of an error of OffsetCommit."""
    return ClientCase(
        sentence=f"After {code.name} for OffsetCommit nothing is said to be committed.",
        source=guide("Error Codes"),
        task=task,
        judge=demand_honest_commit,
        rules=once(OffsetCommitRequest, gives(code), times=None),
        may_fail=True,
    )


for number, code in (
    (30, Code.REBALANCE_IN_PROGRESS),
    (31, Code.ILLEGAL_GENERATION),
    (32, Code.UNKNOWN_MEMBER_ID),
    (33, Code.TOPIC_AUTHORIZATION_FAILED),
    (34, Code.OFFSET_METADATA_TOO_LARGE),
):
    SECTION[number] = failed_commit_case(ClientTask.GROUP, code)


def refused_member_case(task: ClientTask, api: type[Request], code: Code) -> ClientCase:
    """Return a case of an error that no repetition helps against."""
    return ClientCase(
        sentence=f"After {code.name} for {api_name(api.key or 0)} a member gives up, or pauses.",
        source=kip(580, "Proposed Changes"),
        task=task,
        judge=lambda play: demand_calm(play, play.sent()),
        rules=once(api, gives(code), times=None),
        may_fail=True,
    )


for number, code in (
    (40, Code.GROUP_AUTHORIZATION_FAILED),
    (41, Code.GROUP_MAX_SIZE_REACHED),
    (42, Code.INCONSISTENT_GROUP_PROTOCOL),
):
    SECTION[number] = refused_member_case(ClientTask.GROUP, JoinGroupRequest, code)
