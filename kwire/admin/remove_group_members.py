"""The removal of members from a group: LeaveGroup in their stead (KIP-345, KIP-800)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kwire.admin import registry
from kwire.admin.errors import raise_for_code, refusal
from kwire.admin.operation import Operation, OperationCall, RequestPart
from kwire.errors import KwireError, UnsupportedVersion
from kwire.messages import a13_leave_group as leaving

_BATCHED_SINCE = 3


@dataclass(frozen=True, slots=True, order=True)
class MemberToRemove:
    """A member to evict: by its id, or a static one by its group.instance.id (KIP-345)."""

    member_id: str = ""
    group_instance_id: str | None = None

    def __str__(self) -> str:
        return self.member_id or str(self.group_instance_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRemoval:
    """The arguments of remove_group_members. reason: for the coordinator's log (KIP-800)."""

    group_id: str
    reason: str


RemovalCall = OperationCall[MemberToRemove, MemberRemoval]


def _removal(call: RemovalCall) -> Iterator[RequestPart[MemberToRemove]]:
    group_id, reason = call.arguments.group_id, call.arguments.reason
    if call.offers(leaving.LeaveGroupRequest, _BATCHED_SINCE):
        identities = [
            leaving.MemberIdentity(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                reason=reason,
            )
            for member in call.keys
        ]
        yield call.keys, leaving.LeaveGroupRequest(group_id=group_id, members=identities)
        return
    if any(member.group_instance_id for member in call.keys):
        raise UnsupportedVersion(f"{call.peer} knows no static members: it is older than 2.4")
    for member in call.keys:
        request = leaving.LeaveGroupRequest(group_id=group_id, member_id=member.member_id)
        yield (member,), request


def _removed(
    response: leaving.LeaveGroupResponse, call: RemovalCall
) -> Iterator[tuple[MemberToRemove, KwireError | None]]:
    raise_for_code(response.error_code)
    if not call.offers(leaving.LeaveGroupRequest, _BATCHED_SINCE):
        yield call.keys[0], None
        return
    by_name: dict[str, MemberToRemove] = {str(member): member for member in call.keys}
    for answered in response.members:
        # A consumer group fills in the member id of one that was named by its instance id.
        names = (answered.group_instance_id, answered.member_id)
        known = [by_name[name] for name in names if name and name in by_name]
        if known:
            yield known[0], refusal(answered.error_code)


REMOVE_GROUP_MEMBERS: Operation[MemberToRemove, MemberRemoval, None] = Operation(
    row=registry.REMOVE_GROUP_MEMBERS,
    build=_removal,
    parse=_removed,
    target=lambda member, removal: removal.group_id,
)
