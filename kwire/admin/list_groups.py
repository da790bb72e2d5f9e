"""Groups as brokers list them: ListGroups (KIP-518, KIP-848, KIP-1043)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kwire.admin import registry
from kwire.admin.errors import raise_for_code
from kwire.admin.group_descriptions import GroupType
from kwire.admin.operation import AGAIN, Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.error_codes import ErrorCode
from kwire.errors import UnsupportedVersion
from kwire.messages import a16_list_groups as listing

_STATES_SINCE = 4
_TYPES_SINCE = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupListing:
    """A group as its coordinator lists it.

    protocol: `consumer`, `connect`, `share` …; "" of a group that only holds offsets.
    type: one of GroupType or a later one, None before Kafka 3.8. group_state: None before 2.6.
    coordinator_id: the broker that listed it.
    """

    group_id: str
    protocol: str
    type: str | None
    group_state: str | None
    coordinator_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFilter:
    """The groups to list: of these types, states and protocol types; empty for all."""

    types: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    protocols: frozenset[str] = frozenset()


def _listing(call: OperationCall[int, GroupFilter]) -> listing.ListGroupsRequest:
    filters = call.arguments
    if filters.states and not call.offers(listing.ListGroupsRequest, _STATES_SINCE):
        raise UnsupportedVersion(f"{call.peer} lists no states of groups: it is older than 2.6")
    # A broker that does not know types has classic groups only; `_listed` chooses there.
    typed = call.offers(listing.ListGroupsRequest, _TYPES_SINCE)
    return listing.ListGroupsRequest(
        states_filter=tuple(sorted(filters.states)),
        types_filter=tuple(sorted(filters.types)) if typed else (),
    )


def _listed(
    response: listing.ListGroupsResponse, call: OperationCall[int, GroupFilter]
) -> Iterator[tuple[int, tuple[GroupListing, ...]]]:
    raise_for_code(response.error_code)
    (broker_id,) = call.keys
    types = {name.lower() for name in call.arguments.types}
    protocols = call.arguments.protocols
    yield (
        broker_id,
        tuple(
            GroupListing(
                group_id=group.group_id,
                protocol=group.protocol_type,
                type=group.group_type or None,
                group_state=group.group_state or None,
                coordinator_id=broker_id,
            )
            for group in response.groups
            if (not types or (group.group_type or GroupType.CLASSIC).lower() in types)
            and (not protocols or group.protocol_type in protocols)
        ),
    )


LIST_GROUPS: Operation[int, GroupFilter, tuple[GroupListing, ...]] = Operation(
    row=registry.LIST_GROUPS,
    build=_listing,
    parse=_listed,
    again=AGAIN | {ErrorCode.COORDINATOR_NOT_AVAILABLE},
)


def listed_groups(outcomes: Outcomes[int, tuple[GroupListing, ...]]) -> list[GroupListing]:
    """Return the groups of all brokers that answered, by id; one that moved meanwhile once."""
    groups = {group.group_id: group for listed in outcomes.values() for group in listed}
    return [groups[group_id] for group_id in sorted(groups)]
