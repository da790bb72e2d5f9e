"""The four descriptions of groups: DescribeGroups, ConsumerGroupDescribe and their siblings.

Java: DescribeClassicGroupsHandler, DescribeConsumerGroupsHandler, DescribeShareGroupsHandler,
DescribeStreamsGroupsHandler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from kwire.admin import registry
from kwire.admin.cluster_description import ClusterNode
from kwire.admin.errors import WrongGroupType, refusal
from kwire.admin.group_descriptions import (
    CONSUMER_PROTOCOL,
    ClassicGroupDescription,
    ConsumerGroupDescription,
    ShareGroupDescription,
    classic_consumer_group,
    classic_group,
    consumer_group,
    share_group,
)
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.streams_group_descriptions import StreamsGroupDescription, streams_group
from kwire.codec.declaration import Request
from kwire.error_codes import ErrorCode
from kwire.errors import KwireError
from kwire.messages import a15_describe_groups as classic
from kwire.messages import a69_consumer_group_describe as consumer
from kwire.messages import a77_share_group_describe as share
from kwire.messages import a89_streams_group_describe as streams

_OPERATIONS_SINCE = 3
_DEAD = "Dead"


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeOptions:
    """The arguments of the descriptions. coordinators: the brokers by `host:port`."""

    include_authorized_operations: bool = False
    coordinators: Mapping[str, ClusterNode] = field(default_factory=dict)


GroupCall = OperationCall[str, DescribeOptions]


class _AnsweredGroup(Protocol):
    group_id: str
    error_code: int
    error_message: str | None


G = TypeVar("G", bound=_AnsweredGroup)
D = TypeVar("D")


def _classic_request(call: GroupCall, group_ids: Iterable[str]) -> classic.DescribeGroupsRequest:
    offered = call.offers(classic.DescribeGroupsRequest, _OPERATIONS_SINCE)
    return classic.DescribeGroupsRequest(
        groups=tuple(group_ids),
        include_authorized_operations=offered and call.arguments.include_authorized_operations,
    )


def _classic_groups(
    response: classic.DescribeGroupsResponse, call: GroupCall
) -> Iterator[tuple[str, ClassicGroupDescription | KwireError]]:
    coordinator = call.arguments.coordinators.get(call.peer)
    for group in response.groups:
        yield group.group_id, _classic_refusal(group) or classic_group(group, coordinator)


def _classic_refusal(group: classic.DescribedGroup) -> KwireError | None:
    # Before version 6 a group that does not exist is answered as Dead, without an error.
    if not group.error_code and group.group_state == _DEAD:
        return refusal(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no group {group.group_id}")
    return refusal(group.error_code, group.error_message)


def _request_by_ids(request: Callable[..., Request], call: GroupCall) -> Request:
    """Return a request of one of the APIs that began with KIP-848."""
    return request(
        group_ids=call.keys,
        include_authorized_operations=call.arguments.include_authorized_operations,
    )


def _described(
    groups: Iterable[G], call: GroupCall, describe: Callable[[G, ClusterNode | None], D]
) -> Iterator[tuple[str, D | KwireError]]:
    coordinator = call.arguments.coordinators.get(call.peer)
    for group in groups:
        error = refusal(group.error_code, group.error_message)
        yield group.group_id, error or describe(group, coordinator)


def _consumer_request(call: GroupCall) -> Request:
    if not call.offers(consumer.ConsumerGroupDescribeRequest):
        return _classic_request(call, call.keys)
    return _request_by_ids(consumer.ConsumerGroupDescribeRequest, call)


_OF_ANOTHER_PROTOCOL = (ErrorCode.UNSUPPORTED_VERSION, ErrorCode.GROUP_ID_NOT_FOUND)
"""Codes of ConsumerGroupDescribe for a group that may be a classic one."""

ConsumerAnswer = consumer.ConsumerGroupDescribeResponse | classic.DescribeGroupsResponse


def _consumer_groups(
    response: ConsumerAnswer, call: GroupCall
) -> Iterator[tuple[str, ConsumerGroupDescription | KwireError]]:
    if isinstance(response, classic.DescribeGroupsResponse):
        coordinator = call.arguments.coordinators.get(call.peer)
        for old in response.groups:
            error = _classic_refusal(old) or _not_of_consumers(old)
            yield old.group_id, error or classic_consumer_group(old, coordinator)
        return
    own = [group for group in response.groups if group.error_code not in _OF_ANOTHER_PROTOCOL]
    yield from _described(own, call, consumer_group)


def _not_of_consumers(group: classic.DescribedGroup) -> WrongGroupType | None:
    if group.protocol_type in ("", CONSUMER_PROTOCOL):
        return None
    return WrongGroupType(
        f"{group.group_id} is a group of protocol {group.protocol_type}, not of consumers: describe"
        " it as a classic group"
    )


def _fall_back(response: ConsumerAnswer, call: GroupCall) -> Request | None:
    if isinstance(response, classic.DescribeGroupsResponse):
        return None
    old = [group.group_id for group in response.groups if group.error_code in _OF_ANOTHER_PROTOCOL]
    return _classic_request(call, old) if old else None


DESCRIBE_CLASSIC_GROUPS: Operation[str, DescribeOptions, ClassicGroupDescription] = Operation(
    row=registry.DESCRIBE_CLASSIC_GROUPS,
    build=lambda call: _classic_request(call, call.keys),
    parse=_classic_groups,
)
DESCRIBE_CONSUMER_GROUPS: Operation[str, DescribeOptions, ConsumerGroupDescription] = Operation(
    row=registry.DESCRIBE_CONSUMER_GROUPS,
    build=_consumer_request,
    parse=_consumer_groups,
    follow=_fall_back,
)
DESCRIBE_SHARE_GROUPS: Operation[str, DescribeOptions, ShareGroupDescription] = Operation(
    row=registry.DESCRIBE_SHARE_GROUPS,
    build=lambda call: _request_by_ids(share.ShareGroupDescribeRequest, call),
    parse=lambda response, call: _described(response.groups, call, share_group),
)
DESCRIBE_STREAMS_GROUPS: Operation[str, DescribeOptions, StreamsGroupDescription] = Operation(
    row=registry.DESCRIBE_STREAMS_GROUPS,
    build=lambda call: _request_by_ids(streams.StreamsGroupDescribeRequest, call),
    parse=lambda response, call: _described(response.groups, call, streams_group),
)
