"""Groups of every type: ListGroups, four descriptions, DeleteGroups, LeaveGroup.

Classic and consumer (KIP-848), share (KIP-932) and streams groups (KIP-1071) under one face, as
KIP-1043 lists them.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar, cast

from kwire.admin import registry
from kwire.admin.deadline import Deadline
from kwire.admin.describe_groups import (
    DESCRIBE_CLASSIC_GROUPS,
    DESCRIBE_CONSUMER_GROUPS,
    DESCRIBE_SHARE_GROUPS,
    DESCRIBE_STREAMS_GROUPS,
    DescribeOptions,
)
from kwire.admin.driver import Driver
from kwire.admin.errors import refusal
from kwire.admin.group_descriptions import (
    CONSUMER_PROTOCOL,
    ClassicGroupDescription,
    ConsumerGroupDescription,
    GroupDescription,
    GroupType,
    ShareGroupDescription,
)
from kwire.admin.list_groups import LIST_GROUPS, GroupFilter, GroupListing, listed_groups
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.admin.remove_group_members import REMOVE_GROUP_MEMBERS, MemberRemoval, MemberToRemove
from kwire.admin.streams_group_descriptions import StreamsGroupDescription
from kwire.errors import KwireError
from kwire.messages import a42_delete_groups as deletion

R = TypeVar("R", bound=GroupDescription)


def _deleted(
    response: deletion.DeleteGroupsResponse, call: OperationCall[str, None]
) -> Iterator[tuple[str, KwireError | None]]:
    for group in response.results:
        yield group.group_id, refusal(group.error_code, group.error_message)


DELETE_GROUPS: Operation[str, None, None] = Operation(
    row=registry.DELETE_GROUPS,
    build=lambda call: deletion.DeleteGroupsRequest(groups_names=call.keys),
    parse=_deleted,
)

_AnyDescription = Operation[str, DescribeOptions, GroupDescription]
_DESCRIPTIONS: Mapping[str, _AnyDescription] = {
    str(GroupType.CLASSIC): cast(_AnyDescription, DESCRIBE_CLASSIC_GROUPS),
    str(GroupType.CONSUMER): cast(_AnyDescription, DESCRIBE_CONSUMER_GROUPS),
    str(GroupType.SHARE): cast(_AnyDescription, DESCRIBE_SHARE_GROUPS),
    str(GroupType.STREAMS): cast(_AnyDescription, DESCRIBE_STREAMS_GROUPS),
}


def _described_as(group: GroupListing | None) -> str:
    """Return the type by which to ask for a group; consumer groups fall back to classic ones."""
    kind = None if group is None else group.type
    if group is not None and kind is None and group.protocol not in ("", CONSUMER_PROTOCOL):
        # Brokers before Kafka 3.8 tell no types: a group of Connect can only be classic.
        return GroupType.CLASSIC
    return kind if kind is not None and kind in _DESCRIPTIONS else GroupType.CONSUMER


async def list_groups(
    driver: Driver,
    *,
    types: Iterable[str] = (),
    states: Iterable[str] = (),
    protocols: Iterable[str] = (),
    timeout: float | None = None,
) -> Outcomes[int, tuple[GroupListing, ...]]:
    """Return the groups that each broker coordinates, by node id; see `listed_groups`.

    types: of GroupType (KIP-848); states: as `Stable` (KIP-518); protocols: as `consumer`
    (KIP-1043), which is chosen here. A broker that fails leaves the others' groups usable; one
    older than KIP-518 refuses states with UnsupportedVersion.
    """
    filters = GroupFilter(
        types=frozenset(types), states=frozenset(states), protocols=frozenset(protocols)
    )
    return await driver.run_everywhere(LIST_GROUPS, filters, timeout=timeout)


async def describe_groups(
    driver: Driver,
    group_ids: Iterable[str],
    *,
    include_authorized_operations: bool = False,
    listed: Outcomes[int, tuple[GroupListing, ...]] | None = None,
    timeout: float | None = None,
) -> Outcomes[str, GroupDescription]:
    """Describe groups of any type.

    listed: an answer of list_groups that is at hand; step 1 is then left out.

    1. Ask every broker for the types of its groups.
    2. Describe the groups of each type by its own API, all at once. A group that is not listed,
       or without a type, is asked for as a consumer group, which may be a classic one.

    Refused: GROUP_ID_NOT_FOUND (69), GROUP_AUTHORIZATION_FAILED (30).
    """
    deadline = driver.deadline(timeout)
    names = list(dict.fromkeys(group_ids))
    # 1. A broker that fails to list says nothing of its groups; step 2 will tell.
    if listed is None:
        listed = await list_groups(driver, timeout=deadline.remaining)
    listings = {group.group_id: group for group in listed_groups(listed)}
    by_type: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        by_type[_described_as(listings.get(name))].append(name)
    # 2.
    options = await _options(driver, include_authorized_operations, deadline)
    parts = await asyncio.gather(
        *(
            _describe_some(driver, _DESCRIPTIONS[kind], ids, options, deadline)
            for kind, ids in by_type.items()
        )
    )
    entries: dict[str, GroupDescription | KwireError] = {}
    for part in parts:
        entries.update(part.entries())
    return Outcomes({name: entries[name] for name in names})


async def _describe_some(
    driver: Driver,
    operation: _AnyDescription,
    group_ids: list[str],
    options: DescribeOptions,
    deadline: Deadline,
) -> Outcomes[str, GroupDescription]:
    try:
        return await driver.run(operation, group_ids, options, timeout=deadline.remaining)
    except KwireError as error:  # the groups of other types stay of use
        return Outcomes(dict.fromkeys(group_ids, error))


async def describe_classic_groups(
    driver: Driver,
    group_ids: Iterable[str],
    *,
    include_authorized_operations: bool = False,
    timeout: float | None = None,
) -> Outcomes[str, ClassicGroupDescription]:
    """Describe groups of the classic protocol, of consumers or others.

    Refused: GROUP_ID_NOT_FOUND (69), also where an older broker answers with state Dead;
    GROUP_AUTHORIZATION_FAILED (30).
    """
    return await _describe(
        driver, DESCRIBE_CLASSIC_GROUPS, group_ids, include_authorized_operations, timeout
    )


async def describe_consumer_groups(
    driver: Driver,
    group_ids: Iterable[str],
    *,
    include_authorized_operations: bool = False,
    timeout: float | None = None,
) -> Outcomes[str, ConsumerGroupDescription]:
    """Describe groups of consumers, of the protocol of KIP-848 or of the classic one.

    1. Ask ConsumerGroupDescribe for all groups of a coordinator, if it has it.
    2. Ask DescribeGroups for those that it does not know by that protocol.

    Refused: as describe_classic_groups; WrongGroupType for a group that is not of consumers.
    """
    return await _describe(
        driver, DESCRIBE_CONSUMER_GROUPS, group_ids, include_authorized_operations, timeout
    )


async def describe_share_groups(
    driver: Driver,
    group_ids: Iterable[str],
    *,
    include_authorized_operations: bool = False,
    timeout: float | None = None,
) -> Outcomes[str, ShareGroupDescription]:
    """Describe share groups (KIP-932).

    Refused: GROUP_ID_NOT_FOUND (69), also for a group of another type;
    GROUP_AUTHORIZATION_FAILED (30); UnsupportedVersion before Kafka 4.1.
    """
    return await _describe(
        driver, DESCRIBE_SHARE_GROUPS, group_ids, include_authorized_operations, timeout
    )


async def describe_streams_groups(
    driver: Driver,
    group_ids: Iterable[str],
    *,
    include_authorized_operations: bool = False,
    timeout: float | None = None,
) -> Outcomes[str, StreamsGroupDescription]:
    """Describe streams groups (KIP-1071). Refused as share groups."""
    return await _describe(
        driver, DESCRIBE_STREAMS_GROUPS, group_ids, include_authorized_operations, timeout
    )


async def delete_groups(
    driver: Driver, group_ids: Iterable[str], *, timeout: float | None = None
) -> Outcomes[str, None]:
    """Delete groups of any type with their offsets; return the outcome of each.

    Refused: NON_EMPTY_GROUP (68), GROUP_ID_NOT_FOUND (69), GROUP_AUTHORIZATION_FAILED (30),
    GROUP_DELETION_FAILED (134). A group whose answer was lost is OutcomeUnknown: another
    request would be refused with GROUP_ID_NOT_FOUND if the first was carried out.
    """
    return await driver.run(DELETE_GROUPS, group_ids, None, timeout=timeout)


async def remove_group_members(
    driver: Driver,
    group_id: str,
    members: Collection[MemberToRemove] | None = None,
    *,
    reason: str = "removed by an administrator",
    timeout: float | None = None,
) -> Outcomes[MemberToRemove, None]:
    """Remove members from a classic or consumer group; a live one joins again at once.

    members: None for all that the group has now.

    Refused: UNKNOWN_MEMBER_ID (25) for a member that is not there. Kafka 4.3.1 and 4.4.0 also
    remove members that speak the protocol of KIP-848.
    """
    deadline = driver.deadline(timeout)
    if members is None:
        described = await describe_consumer_groups(driver, [group_id], timeout=deadline.remaining)
        members = [
            MemberToRemove("", member.group_instance_id)
            if member.group_instance_id
            else MemberToRemove(member.member_id)
            for member in described[group_id].members
        ]
    removal = MemberRemoval(group_id=group_id, reason=reason)
    return await driver.run(REMOVE_GROUP_MEMBERS, members, removal, timeout=deadline.remaining)


async def _describe(
    driver: Driver,
    operation: Operation[str, DescribeOptions, R],
    group_ids: Iterable[str],
    include_authorized_operations: bool,
    timeout: float | None,
) -> Outcomes[str, R]:
    driver.check_allowed(operation.row)
    deadline = driver.deadline(timeout)
    options = await _options(driver, include_authorized_operations, deadline)
    return await driver.run(operation, group_ids, options, timeout=deadline.remaining)


async def _options(
    driver: Driver, include_authorized_operations: bool, deadline: Deadline
) -> DescribeOptions:
    # The router needs the cluster for its first lookup anyway; it is asked for once.
    cluster = await driver.router.cluster(deadline)
    return DescribeOptions(
        include_authorized_operations=include_authorized_operations,
        coordinators={str(node.address): node for node in cluster.nodes.values()},
    )
