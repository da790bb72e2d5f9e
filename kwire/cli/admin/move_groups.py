"""`kwire groups seek` and `forget`: move a group to other offsets, or drop them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.admin.group_tables import GROUP, PARTITION, TOPIC, Row, table
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, confirm
from kwire.cli.errors import CommandFailed, WrongUsage, usage_errors
from kwire.cli.options import argument, flag, option, repeated
from kwire.cli.output import Column, Output, error_document, number_columns

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.group_seek import SeekPlan
    from kwire.admin.outcomes import Outcomes

GROUP_NAME = argument(metavar="GROUP", help="The group's id.")
_TO = (
    "earliest, latest, an offset, @TIME, -DURATION (-90m), +SHIFT or -SHIFT in records, another"
    " group's id, or FILE.csv."
)

SEEK_COLUMNS = (
    GROUP,
    TOPIC,
    PARTITION,
    *number_columns("oldOffset", "newOffset"),
    Column(key="note"),
)


@asks_cluster(registry.ALTER_GROUP_OFFSETS)
def seek_groups(
    cluster: ClusterOptions,
    output: Output,
    group: str = GROUP_NAME,
    to: str = option("--to", default=..., metavar="WHERE", help=_TO),
    topic: list[str] = repeated(
        "--topic",
        metavar="TOPIC[:0,1]",
        help="By default all partitions that the group has. Repeatable.",
    ),
    dry_run: bool = flag("--dry-run", help="Show old and new offsets, and change nothing."),
    yes: bool = YES,
) -> None:
    """Move a group without members to other offsets. Shows old and new, asks, commits.

    \b
    kwire groups seek billing --to earliest --dry-run --bootstrap-server localhost:9092
    kwire groups seek billing --to @2026-11-22T10:00:00Z --topic orders:0,1 --bootstrap-server ...
    kwire groups seek billing --to -90m --yes --bootstrap-server localhost:9092
    """
    from kwire.admin.group_seek_target import parse_seek_target

    with usage_errors():
        target = parse_seek_target(to, group)
    topics = topic_choice(topic)
    if dry_run:
        plan = cluster.run(lambda admin: admin.plan_group_seek(group, target, topics))
        shown = table("partitions", SEEK_COLUMNS, _rows(plan))
        shown.facts = {"dryRun": True, "obstacle": plan.obstacle}
        output.show(shown)
        output.failed = output.failed or plan.obstacle is not None
        return

    async def seek(admin: AdminClient) -> tuple[SeekPlan, Outcomes[Any, None]]:
        plan = await admin.plan_group_seek(group, target, topics)
        if plan.obstacle:
            raise CommandFailed(f"{plan.obstacle}; nothing was changed.")
        _ask(plan, output, yes=yes)
        return plan, await admin.seek_group(plan)

    plan, outcomes = cluster.run(seek)
    output.show(table("partitions", SEEK_COLUMNS, _rows(plan, outcomes)))


def _ask(plan: SeekPlan, output: Output, *, yes: bool) -> None:
    moved = sum(1 for move in plan.moves if move.new_offset != move.old_offset)
    if not yes and not output.is_document:
        for move in plan.moves:
            output.say(f"{move.partition}: {move.old_offset} → {move.new_offset}")
    made = "" if plan.group else ", which does not exist and will be made,"
    confirm(f"Move {plan.group_id}{made} in {moved} of {len(plan.moves)} partitions?", yes=yes)


def _rows(plan: SeekPlan, outcomes: Outcomes[Any, None] | None = None) -> list[Row]:
    failed = outcomes.failed if outcomes is not None else {}
    rows = []
    for move in plan.moves:
        error = move.error or failed.get(move.partition)
        rows.append(
            {
                "group": plan.group_id,
                "topic": move.partition.topic,
                "partition": move.partition.partition,
                "oldOffset": move.old_offset,
                "newOffset": move.new_offset,
                "note": move.note,
                **(error_document(error) if error else {}),
            }
        )
    return rows


def topic_choice(texts: list[str]) -> dict[str, tuple[int, ...] | None]:
    """Read `orders` and `orders:0,1`: partitions by topic, None for all. Raises WrongUsage."""
    from kwire.text.untrusted import whole_number

    chosen: dict[str, tuple[int, ...] | None] = {}
    for text in texts:
        topic, colon, partitions = text.partition(":")
        indexes = [whole_number(index, bits=31) for index in partitions.split(",")]
        numbers = tuple(index for index in indexes if index is not None)
        if not topic or (colon and len(numbers) < len(indexes)):
            raise WrongUsage(f"--topic {text!r} is no choice: write orders, or orders:0,1.")
        # A topic that comes twice means the partitions of both; the whole topic includes the rest.
        before = chosen.get(topic, ())
        whole = not colon or before is None
        chosen[topic] = None if whole else tuple(dict.fromkeys([*(before or ()), *numbers]))
    return chosen


@asks_cluster(registry.DELETE_GROUP_OFFSETS)
def delete_group_offsets(
    cluster: ClusterOptions,
    output: Output,
    group: str = GROUP_NAME,
    topic: list[str] = option(
        "--topic", default=..., metavar="TOPIC[:0,1]", help="Topic, or partitions. Repeatable."
    ),
    yes: bool = YES,
) -> None:
    """Make a group forget its offsets of topics that no member reads.

    \b
    kwire groups forget billing --topic orders-old --yes --bootstrap-server localhost:9092
    """
    from kwire.admin.group_descriptions import GroupType
    from kwire.admin.topic_partition import TopicPartition

    topics = topic_choice(topic)
    confirm(f"Drop the offsets of {group} for {', '.join(topic)}?", yes=yes)

    async def forget(admin: AdminClient) -> list[Row]:
        described = await admin.describe_groups([group])
        if described[group].type == GroupType.SHARE:
            if any(indexes is not None for indexes in topics.values()):
                raise WrongUsage("a share group forgets whole topics only: leave out :0,1.")
            dropped = await admin.delete_share_group_offsets(group, topics)
            return [_dropped(group, name, None, dropped.failed.get(name)) for name in topics]
        committed = (await admin.list_group_offsets([group]))[group]
        chosen = [
            TopicPartition(name, index)
            for name, indexes in topics.items()
            for index in (
                indexes
                if indexes is not None
                else [known.partition for known in committed.entries() if known.topic == name]
            )
        ]
        if not chosen:
            raise CommandFailed(f"{group} has no offsets of {', '.join(topics)}.")
        done = await admin.delete_group_offsets(group, chosen)
        return [_dropped(group, p.topic, p.partition, done.failed.get(p)) for p in chosen]

    output.show(table("partitions", [GROUP, TOPIC, PARTITION], cluster.run(forget)))


def _dropped(group: str, topic: str, partition: int | None, error: Exception | None) -> Row:
    return {
        "group": group,
        "topic": topic,
        "partition": partition,
        **(error_document(error) if error else {}),
    }
