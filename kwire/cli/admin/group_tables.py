"""The tables of `kwire groups`: columns, and rows made of listings, descriptions and lags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from kwire.cli.output import (
    ERROR,
    MESSAGE,
    Column,
    Table,
    error_document,
    number_columns,
    text_columns,
)
from kwire.errors import KwireError

if TYPE_CHECKING:
    from kwire.admin.group_descriptions import GroupDescription
    from kwire.admin.group_lag import GroupLag, GroupMember, PartitionLag
    from kwire.admin.list_groups import GroupListing
    from kwire.admin.outcomes import Outcomes

R = TypeVar("R")
Row = dict[str, Any]

GROUP = Column(key="group")
TOPIC = Column(key="topic")
PARTITION = Column(key="partition", right=True)
TYPE = Column(key="type")
STATE = Column(key="state")
COORDINATOR = Column(key="coordinatorId", right=True)
LAG = Column(key="lag", right=True)

LISTING_COLUMNS = (GROUP, TYPE, Column(key="protocol"), STATE, COORDINATOR)
LAG_COLUMNS = (
    GROUP,
    *text_columns("type", "state", wide=True),
    TOPIC,
    PARTITION,
    Column(key="currentOffset", right=True),
    Column(key="leaderEpoch", right=True, wide=True),
    Column(key="logEndOffset", right=True),
    LAG,
    Column(key="consumerId"),
    Column(key="groupInstanceId", wide=True),
    *text_columns("host", "clientId"),
)
MEMBER_COLUMNS = (
    GROUP,
    *text_columns("consumerId", "groupInstanceId", "host", "clientId"),
    Column(key="partitions", right=True),
    Column(key="memberEpoch", right=True, wide=True),
    *text_columns("rack", "assignment", "targetAssignment", wide=True),
)
STATE_COLUMNS = (
    GROUP,
    COORDINATOR,
    Column(key="coordinator"),
    TYPE,
    Column(key="assignor"),
    STATE,
    Column(key="members", right=True),
    *number_columns("groupEpoch", "targetAssignmentEpoch", wide=True),
)
SUMMARY_COLUMNS = (
    GROUP,
    TYPE,
    STATE,
    *number_columns("members", "partitions"),
    LAG,
    *number_columns("lagUnknown", "maxLag"),
    Column(key="maxLagPartition"),
)


def rows_of(outcomes: Outcomes[str, R], make: Callable[[R], Iterable[Row]]) -> Iterator[Row]:
    """Yield the rows of each group that worked, and one with the error of each that did not."""
    for group, value in outcomes.entries().items():
        if isinstance(value, KwireError):
            yield {"group": group, **error_document(value)}
        else:
            yield from make(value)


def table(name: str, columns: Iterable[Column], rows: Iterable[Row]) -> Table:
    """Return a table with the columns of errors."""
    return Table(name, [*columns, ERROR, MESSAGE], rows)


def listing_rows(
    listed: Outcomes[int, tuple[GroupListing, ...]], groups: Iterable[GroupListing]
) -> Iterator[Row]:
    """Yield the groups, and a row for each broker that did not list its own."""
    for group in groups:
        yield {
            "group": group.group_id,
            "type": group.type,
            "protocol": group.protocol or None,
            "state": group.group_state,
            "coordinatorId": group.coordinator_id,
        }
    yield from unlisted_rows(listed)


def unlisted_rows(listed: Outcomes[int, tuple[GroupListing, ...]]) -> Iterator[Row]:
    """Yield a row for each broker that did not list its groups."""
    for broker_id, error in listed.failed.items():
        yield {"coordinatorId": broker_id, **error_document(error)}


def lag_rows(lag: GroupLag) -> Iterator[Row]:
    """Yield a row for each partition and member; one for a group that has none."""
    group = {"group": lag.group.group_id, "type": lag.group.type, "state": lag.group.group_state}
    if not lag.partitions:
        yield group
    for place in lag.partitions:
        for member in place.members or (None,):
            yield {**group, **_place_values(place), **_reader_values(member)}


def _place_values(place: PartitionLag) -> Row:
    return {
        "topic": place.partition.topic,
        "partition": place.partition.partition,
        "currentOffset": place.current_offset,
        "leaderEpoch": place.leader_epoch,
        "logEndOffset": place.log_end_offset,
        "lag": place.lag,
        **(error_document(place.error) if place.error else {}),
    }


def _reader_values(member: GroupMember | None) -> Row:
    if member is None:
        return {}
    return {
        "consumerId": member.member_id,
        "groupInstanceId": getattr(member, "group_instance_id", None),
        "host": member.host,
        "clientId": member.client_id,
    }


def member_rows(group: GroupDescription) -> Iterator[Row]:
    """Yield a row for each member."""
    for member in getattr(group, "members", ()):
        assignment = _assignment(getattr(member, "assignment", None))
        yield {
            "group": group.group_id,
            **_reader_values(member),
            "partitions": None if assignment is None else len(assignment),
            "memberEpoch": getattr(member, "member_epoch", None),
            "rack": getattr(member, "rack_id", None),
            "assignment": assignment,
            "targetAssignment": _assignment(getattr(member, "target_assignment", None)),
        }


def _assignment(assignment: Any) -> list[str] | None:
    """Return partitions, or the active tasks of a member of a streams group, as texts."""
    if assignment is None:
        return None
    return [str(item) for item in getattr(assignment, "active", assignment)]


def state_row(group: GroupDescription) -> Row:
    """Return the row of a group as a whole."""
    coordinator = group.coordinator
    assignor = getattr(group, "partition_assignor", None) or getattr(group, "protocol_data", None)
    return {
        "group": group.group_id,
        "coordinatorId": coordinator.node_id if coordinator else None,
        "coordinator": str(coordinator.address) if coordinator else None,
        "type": group.type,
        "assignor": assignor or None,
        "state": group.group_state,
        "members": len(getattr(group, "members", ())),
        "groupEpoch": getattr(group, "group_epoch", None),
        "targetAssignmentEpoch": getattr(group, "target_assignment_epoch", None),
    }


def summary_row(lag: GroupLag) -> Row:
    """Return the row of a group's lag as a whole; the error of a partition is the row's."""
    known = [place for place in lag.partitions if place.lag is not None]
    worst = max(known, key=lambda place: place.lag or 0, default=None)
    errors = [place.error for place in lag.partitions if place.error]
    return {
        "group": lag.group.group_id,
        "type": lag.group.type,
        "state": lag.group.group_state,
        "members": len(getattr(lag.group, "members", ())),
        "partitions": len(lag.partitions),
        "lag": lag.total,
        "lagUnknown": len(lag.partitions) - len(known),
        "maxLag": worst.lag if worst else None,
        "maxLagPartition": str(worst.partition) if worst else None,
        **(error_document(errors[0]) if errors else {}),
    }
