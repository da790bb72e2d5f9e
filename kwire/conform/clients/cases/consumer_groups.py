"""Members of groups of KIP-848 after each error of a heartbeat."""

from __future__ import annotations

from typing import Any

from kwire.conform.clients.case import ClientCase, ClientSection, ClientTask
from kwire.conform.clients.cases.groups import (
    NOT_HERE,
    demand_going_on,
    demand_search,
    failed_commit_case,
    forget_member,
    groups_change,
    offset_fetch_case,
    refused_member_case,
)
from kwire.conform.clients.cluster import MemberGroup
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import ScriptRule, gives, lost, until_sent
from kwire.conform.expectation import expect
from kwire.conform.vocabulary import Deviation, kip
from kwire.error_codes import ErrorCode as Code
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest
from kwire.messages.a11_join_group import JoinGroupRequest
from kwire.messages.a68_consumer_group_heartbeat import ConsumerGroupHeartbeatRequest

SECTION = ClientSection("client/consumer-groups", "Members of KIP-848's groups")
_HEARTBEAT, _TASK = ConsumerGroupHeartbeatRequest, ClientTask.GROUP_CONSUMER


def _fence(group: MemberGroup) -> None:
    group.generation += 2


_EVENTS = {
    Code.UNKNOWN_MEMBER_ID: groups_change(forget_member),
    Code.FENCED_MEMBER_EPOCH: groups_change(_fence),
    Code.NONE: lost(),
}


@SECTION.case(1, kip(848, "Heartbeat & Session"), _TASK)
def _(play: Play) -> None:
    "A member joins with epoch 0, its subscription and its time for a rebalance, by no JoinGroup."
    for request in play.sent(JoinGroupRequest):
        raise Deviation("no JoinGroup", request.name)
    joining: Any = play.demand(_HEARTBEAT)[0].body
    subscribes = joining.subscribed_topic_names or joining.subscribed_topic_regex
    whole = joining.member_epoch == 0 and subscribes and joining.rebalance_timeout_ms > 0
    expect(whole and joining.topic_partitions == [], "all of these fields", joining)


def _declare(number: int, code: Code, after: int) -> None:
    rejoins = code in (Code.UNKNOWN_MEMBER_ID, Code.FENCED_MEMBER_EPOCH)

    def judge(play: Play) -> None:
        fault = play.scripted(_HEARTBEAT)[0]
        again = play.after(fault, _HEARTBEAT)
        if rejoins and again:
            epoch = again[0].body.member_epoch
            expect(epoch <= 0, "a heartbeat with epoch 0", f"one with epoch {epoch}")
        if code in NOT_HERE:
            demand_search(play, _HEARTBEAT)
        demand_going_on(play, _HEARTBEAT, code.name if code else "a lost answer")

    def rules() -> list[ScriptRule]:
        fault = ScriptRule(api=_HEARTBEAT, action=_EVENTS.get(code, gives(code)), after=after)
        if code in NOT_HERE:
            return until_sent(fault, FindCoordinatorRequest)
        return until_sent(fault, _HEARTBEAT, lambda body: not rejoins or body.member_epoch == 0)

    does = "joins again with epoch 0" if rejoins else "goes on"
    SECTION[number] = ClientCase(
        sentence=f"After {code.name if code else 'a lost answer'} for a heartbeat a member {does}.",
        source=kip(848, "ConsumerGroupHeartbeat API"),
        task=_TASK,
        judge=judge,
        rules=rules,
        may_fail=True,
    )


for number, code, after in (
    (2, Code.COORDINATOR_LOAD_IN_PROGRESS, 0),
    (3, Code.NOT_COORDINATOR, 1),
    (4, Code.COORDINATOR_NOT_AVAILABLE, 1),
    (5, Code.UNKNOWN_MEMBER_ID, 1),
    (6, Code.FENCED_MEMBER_EPOCH, 1),
    (7, Code.NONE, 1),
):
    _declare(number, code, after)
SECTION[10] = offset_fetch_case(_TASK, Code.STALE_MEMBER_EPOCH)
SECTION[11] = failed_commit_case(_TASK, Code.STALE_MEMBER_EPOCH)
for number, code in (
    (20, Code.GROUP_AUTHORIZATION_FAILED),
    (21, Code.UNSUPPORTED_ASSIGNOR),
    (22, Code.INVALID_REQUEST),
):
    SECTION[number] = refused_member_case(_TASK, _HEARTBEAT, code)
