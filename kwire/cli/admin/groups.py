"""`kwire groups`: groups of all types, as kafka-groups, kafka-consumer-groups and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.admin.group_tables import (
    GROUP,
    LAG_COLUMNS,
    LISTING_COLUMNS,
    MEMBER_COLUMNS,
    PARTITION,
    STATE_COLUMNS,
    SUMMARY_COLUMNS,
    TOPIC,
    Row,
    lag_rows,
    listing_rows,
    member_rows,
    rows_of,
    state_row,
    summary_row,
    table,
    unlisted_rows,
)
from kwire.cli.admin.move_groups import delete_group_offsets, seek_groups
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, confirm
from kwire.cli.errors import WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, option, repeated
from kwire.cli.output import Column, Output, Table, error_document, number_columns, text_columns
from kwire.cli.watching import WATCH, ask_and_show

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.list_groups import GroupListing
    from kwire.admin.outcomes import Outcomes
    from kwire.admin.remove_group_members import MemberToRemove

app = command_group("List, describe, move and delete groups of every type.")
app.command("seek")(seek_groups)
app.command("forget")(delete_group_offsets)

NAMES = argument(metavar="GROUP...", help="Ids of groups.")
NAMES_OR_ALL = argument(default=[], metavar="[GROUP]...", help="By default all groups.")


@app.command("list")
@asks_cluster(registry.LIST_GROUPS)
def list_groups(
    cluster: ClusterOptions,
    output: Output,
    types: list[str] = repeated(
        "--type", metavar="TYPE", help="classic, consumer, share, streams. Repeatable."
    ),
    states: list[str] = repeated(
        "--state", metavar="STATE", help="Stable, Empty, Dead and others. Repeatable."
    ),
    protocol: list[str] = repeated(
        help="The protocol type: consumer, connect and others. Repeatable."
    ),
) -> None:
    """List the groups of every broker, with type and state.

    \b
    kwire groups list --type consumer --state Empty --bootstrap-server localhost:9092
    """
    from kwire.admin.list_groups import listed_groups

    listed = cluster.run(
        lambda admin: admin.list_groups(types=types, states=states, protocols=protocol),
    )
    rows = listing_rows(listed, listed_groups(listed))
    output.show(table("groups", LISTING_COLUMNS, rows), empty="no groups")


@app.command("describe")
@asks_cluster(registry.DESCRIBE_CONSUMER_GROUPS)
def describe_groups(
    cluster: ClusterOptions,
    output: Output,
    groups: list[str] = NAMES_OR_ALL,
    members: bool = flag("--members", help="The members and what they read."),
    state: bool = flag("--state", help="State, coordinator and assignor of each group."),
    lag: bool = flag("--lag", help="Offsets and lag of each partition: the default."),
    watch: float | None = WATCH,
) -> None:
    """Describe groups of any type: offsets and lag, members, or state.

    \b
    kwire groups describe billing --bootstrap-server localhost:9092
    kwire groups describe billing --members -o wide --bootstrap-server localhost:9092
    """
    if members + state + lag > 1:
        raise WrongUsage("give one of --members, --state and --lag.")

    async def describe(admin: AdminClient) -> Table:
        listed = await admin.list_groups()
        names = groups or _all(listed)
        missing = [] if groups else [*unlisted_rows(listed)]
        if members or state:
            described = await admin.describe_groups(names, listed=listed)
            if members:
                rows = [*rows_of(described, member_rows), *missing]
                return table("members", MEMBER_COLUMNS, rows)
            rows = [*rows_of(described, lambda group: [state_row(group)]), *missing]
            return table("groups", STATE_COLUMNS, rows)
        lags = await admin.describe_group_lag(names, listed=listed)
        return table("partitions", LAG_COLUMNS, [*rows_of(lags, lag_rows), *missing])

    empty = "no members" if members else "no groups"
    ask_and_show(cluster, output, describe, lambda shown: output.show(shown, empty=empty), watch)


def _all(listed: Outcomes[int, tuple[GroupListing, ...]]) -> list[str]:
    from kwire.admin.list_groups import listed_groups

    return [group.group_id for group in listed_groups(listed)]


@app.command("lag")
@asks_cluster(registry.LIST_GROUP_OFFSETS)
def describe_group_lag(
    cluster: ClusterOptions,
    output: Output,
    groups: list[str] = NAMES_OR_ALL,
    at_least: int = option(
        "--at-least", default=0, metavar="RECORDS", min=0, help="Leave out smaller lags."
    ),
    watch: float | None = WATCH,
) -> None:
    """Show the lag of each group as a whole, largest first.

    \b
    kwire groups lag --at-least 1000 --watch 5 --bootstrap-server localhost:9092
    """

    async def ask(admin: AdminClient) -> list[Row]:
        listed = await admin.list_groups()
        lags = await admin.describe_group_lag(groups or _all(listed), listed=listed)
        rows = [*rows_of(lags, lambda lag: [summary_row(lag)])]
        shown = [r for r in rows if r.get("error") or (r.get("lag") or 0) >= at_least]
        shown.sort(key=lambda row: -(row.get("lag") or 0))
        return [*shown, *([] if groups else unlisted_rows(listed))]

    def show(rows: list[Row]) -> None:
        output.show(table("groups", SUMMARY_COLUMNS, rows), empty="no groups")

    ask_and_show(cluster, output, ask, show, watch)


@app.command("offsets")
@asks_cluster(registry.LIST_GROUP_OFFSETS)
def list_group_offsets(
    cluster: ClusterOptions,
    output: Output,
    groups: list[str] = NAMES,
    require_stable: bool = flag(
        "--require-stable", help="Wait for open transactions that commit some."
    ),
) -> None:
    """Show committed offsets; of share groups the start offsets.

    \b
    kwire groups offsets billing -o tsv --bootstrap-server localhost:9092
    """
    from kwire.admin.group_descriptions import GroupType

    async def ask(admin: AdminClient) -> dict[str, Any]:
        from kwire.admin.list_groups import listed_groups

        listed = await admin.list_groups(types=[GroupType.SHARE])
        share = {g.group_id for g in listed_groups(listed)} & set(groups)
        others = [group for group in groups if group not in share]
        committed = await admin.list_group_offsets(others, require_stable=require_stable)
        started = await admin.list_share_group_offsets(share)
        entries = {**committed.entries(), **started.entries()}
        return {group: entries[group] for group in groups}

    rows = [row for group, found in cluster.run(ask).items() for row in _offsets(group, found)]
    columns = [
        GROUP,
        TOPIC,
        PARTITION,
        *number_columns("offset", "leaderEpoch"),
        Column(key="metadata"),
    ]
    output.show(table("offsets", columns, rows), empty="no offsets")


def _offsets(group: str, found: Any) -> list[Row]:
    if isinstance(found, Exception):
        return [{"group": group, **error_document(found)}]
    rows: list[Row] = []
    for partition, value in sorted(found.entries().items()):
        row: Row = {
            "group": group,
            "topic": partition.topic,
            "partition": partition.partition,
        }
        if isinstance(value, Exception):
            row.update(error_document(value))
        elif value is not None:
            offset = getattr(value, "offset", None)
            row["offset"] = value.start_offset if offset is None else offset
            row["leaderEpoch"] = value.leader_epoch
            row["metadata"] = getattr(value, "metadata", None) or None
        rows.append(row)
    return rows


@app.command("evict")
@asks_cluster(registry.REMOVE_GROUP_MEMBERS)
def remove_group_members(
    cluster: ClusterOptions,
    output: Output,
    group: str = argument(metavar="GROUP", help="The group's id."),
    member: list[str] = repeated("--member", metavar="ID", help="Its member id. Repeatable."),
    instance: list[str] = repeated(
        "--instance", metavar="ID", help="A group.instance.id. Repeatable."
    ),
    everyone: bool = flag("--all", help="Every member it has now."),
    reason: str = option(default="removed by an administrator", help="For the coordinator's log."),
    yes: bool = YES,
) -> None:
    """Remove members from a classic or consumer group. A live one joins again at once.

    \b
    kwire groups evict billing --instance billing-3 --yes --bootstrap-server localhost:9092
    """
    from kwire.admin.remove_group_members import MemberToRemove

    chosen = [
        *(MemberToRemove(member_id) for member_id in member),
        *(MemberToRemove("", instance_id) for instance_id in instance),
    ]
    if bool(chosen) == everyone:
        raise WrongUsage("give --member or --instance, or --all.")
    confirm(f"Remove {'all members' if everyone else len(chosen)} from {group}?", yes=yes)
    outcomes = cluster.run(
        lambda admin: admin.remove_group_members(
            group, None if everyone else chosen, reason=reason
        ),
    )
    columns = [
        GROUP,
        *text_columns("memberId", "groupInstanceId"),
    ]

    def values(key: MemberToRemove, done: None = None) -> Row:
        return {
            "group": group,
            "memberId": key.member_id or None,
            "groupInstanceId": key.group_instance_id,
        }

    output.show(
        Table.of_outcomes("members", columns, outcomes, values, key_values=values),
        empty=f"{group} has no members",
    )


@app.command("delete")
@asks_cluster(registry.DELETE_GROUPS)
def delete_groups(
    cluster: ClusterOptions,
    output: Output,
    groups: list[str] = NAMES,
    if_exists: bool = flag("--if-exists", help="A group that does not exist is no error."),
    yes: bool = YES,
) -> None:
    """Delete groups without members, and their offsets, for good.

    \b
    kwire groups delete billing-old --yes --bootstrap-server localhost:9092
    """
    confirm(f"Delete {', '.join(groups)} with all offsets?", yes=yes)
    outcomes = cluster.run(lambda admin: admin.delete_groups(groups))
    rows = [*rows_of(outcomes, lambda done: [])]
    deleted = {row["group"]: row for row in rows}
    done = "deleted"
    shown = [deleted.get(group, {"group": group, "state": done}) for group in outcomes.entries()]
    if if_exists:
        for row in shown:
            if row.get("error") == "GROUP_ID_NOT_FOUND":
                row["error"] = row["message"] = None
                row["state"] = "not there"
    output.show(table("groups", [GROUP, Column(key="state")], shown))
