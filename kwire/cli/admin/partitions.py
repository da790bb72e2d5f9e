"""`kwire partitions`: elections, offsets, records and moves of partitions.

As kafka-leader-election, kafka-get-offsets, kafka-delete-records and kafka-reassign-partitions do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, confirm
from kwire.cli.errors import WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, option
from kwire.cli.output import (
    Column,
    Output,
    Table,
    dry_run_facts,
    number_columns,
    text_columns,
    time_values,
)
from kwire.cli.watching import WATCH, ask_and_show

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.outcomes import Outcomes
    from kwire.admin.reassignments import OngoingReassignment
    from kwire.admin.topic_partition import TopicPartition

app = command_group(
    "Elect leaders, list offsets, trim records and move partitions.",
    {"reassign": "kwire.cli.admin.reassign:app"},
)

TOPIC = Column(key="topic")
PARTITION = Column(key="partition", right=True)
NAMES_HELP = "A topic, or one partition of it as TOPIC-PARTITION."


@app.command("elect")
@asks_cluster(registry.ELECT_LEADERS)
def elect_leaders(
    cluster: ClusterOptions,
    output: Output,
    partitions: list[str] = argument(
        default=[], metavar="[TOPIC-PARTITION]...", help="As orders-3."
    ),
    preferred: bool = flag("--preferred", help="The first replica leads. The default."),
    unclean: bool = flag(
        "--unclean", help="Without a replica in sync let another lead; records may be lost."
    ),
    all_of_them: bool = flag("--all", help="All partitions."),
    yes: bool = YES,
) -> None:
    """Elect leaders of partitions: preferred, or any live replica.

    \b
    kwire partitions elect orders-0 orders-1 --bootstrap-server localhost:9092
    kwire partitions elect --all --bootstrap-server localhost:9092
    """
    if preferred and unclean:
        raise WrongUsage("give --preferred or --unclean, not both.")
    if bool(partitions) == all_of_them:
        raise WrongUsage("name partitions as TOPIC-PARTITION, or give --all.")
    from kwire.admin.partition_options import ElectionType
    from kwire.admin.topic_partition import TopicPartition

    keys = None if all_of_them else [TopicPartition.parse(text) for text in partitions]
    kind = ElectionType.UNCLEAN if unclean else ElectionType.PREFERRED
    if unclean:
        confirm("Elect replicas out of sync? Records that they lack are lost.", yes=yes)
    outcomes = cluster.run(lambda admin: admin.elect_leaders(keys, election_type=kind))
    output.show(
        Table.of_outcomes(
            "partitions",
            [TOPIC, PARTITION, Column(key="outcome")],
            outcomes,
            lambda key, outcome: {**key_values(key), "outcome": outcome.value},
            key_values=key_values,
        ),
        empty="every partition has its preferred leader",
    )


@app.command("offsets")
@asks_cluster(registry.LIST_OFFSETS)
def list_offsets(
    cluster: ClusterOptions,
    output: Output,
    names: list[str] = argument(metavar="TOPIC[-PARTITION]...", help=NAMES_HELP),
    at: str = option(
        default="latest",
        metavar="WHEN",
        help="latest, earliest, max-timestamp, earliest-local, latest-tiered,"
        " or @TIME: ISO 8601 or ms since 1970.",
    ),
    committed: bool = flag("--committed", help="Only records whose transaction has ended."),
) -> None:
    """List offsets: of the ends of partitions, or of a time.

    \b
    kwire partitions offsets orders --bootstrap-server localhost:9092
    kwire partitions offsets orders-3 --at @2026-11-22T17:00:00Z --bootstrap-server localhost:9092
    """
    from kwire.admin.partition_options import IsolationLevel
    from kwire.cli.admin.partition_names import named_partitions, offset_time

    time = offset_time(at)
    level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED

    async def look(admin: AdminClient) -> Outcomes[TopicPartition, Any]:
        keys = await named_partitions(admin, names)
        return await admin.list_offsets(dict.fromkeys(keys, time), isolation_level=level)

    output.show(
        Table.of_outcomes(
            "partitions",
            [
                TOPIC,
                PARTITION,
                Column(key="offset", right=True),
                Column(key="timestampMs", wide=True, right=True),
                Column(key="timestamp"),
                Column(key="leaderEpoch", right=True, wide=True),
            ],
            cluster.run(look),
            lambda key, found: {
                **key_values(key),
                "offset": found.offset,
                **time_values("timestamp", found.timestamp),
                "leaderEpoch": found.leader_epoch,
            },
            key_values=key_values,
        )
    )


@app.command("trim")
@asks_cluster(registry.DELETE_RECORDS)
def delete_records(
    cluster: ClusterOptions,
    output: Output,
    names: list[str] = argument(metavar="TOPIC[-PARTITION]...", help=NAMES_HELP),
    before: str = option(
        default=..., metavar="OFFSET|@TIME", help="The first record to keep; `latest` keeps none."
    ),
    dry_run: bool = flag("--dry-run", help="Show what would be deleted."),
    yes: bool = YES,
) -> None:
    """Delete the oldest records of partitions, for good.

    \b
    kwire partitions trim orders-3 --before 1000 --bootstrap-server localhost:9092
    kwire partitions trim orders --before @2026-11-01T00:00:00Z --dry-run
    """
    from kwire.admin.outcomes import Outcomes
    from kwire.cli.admin.partition_names import trim_offsets

    found = cluster.run(lambda admin: trim_offsets(admin, names, before))
    columns = [
        TOPIC,
        PARTITION,
        *number_columns("earliest", "before", "records"),
    ]
    table = Table.of_outcomes(
        "partitions",
        columns,
        found,
        lambda key, trim: {
            **key_values(key),
            "earliest": trim.earliest,
            "before": trim.before,
            "records": trim.records,
        },
        key_values=key_values,
        facts=dry_run_facts(dry_run),
    )
    if dry_run or not found:
        output.show(table)
        return
    total = sum(trim.records for trim in found.values())
    confirm(f"Delete up to {total} offsets of {', '.join(map(str, found))}?", yes=yes)
    offsets = {key: trim.before for key, trim in found.items()}
    deleted = cluster.run(lambda admin: admin.delete_records(offsets))
    output.show(
        Table.of_outcomes(
            "partitions",
            [TOPIC, PARTITION, Column(key="earliest", right=True)],
            Outcomes({**found.failed, **deleted.entries()}),
            lambda key, low: {**key_values(key), "earliest": low},
            key_values=key_values,
        )
    )


@app.command("reassignments")
@asks_cluster(registry.LIST_PARTITION_REASSIGNMENTS)
def list_partition_reassignments(
    cluster: ClusterOptions, output: Output, watch: float | None = WATCH
) -> None:
    """List the partitions that are on the move.

    \b
    kwire partitions reassignments --watch 2 --bootstrap-controller localhost:9093
    """

    def show(ongoing: Mapping[TopicPartition, OngoingReassignment]) -> None:
        rows = (
            {
                **key_values(key),
                "replicas": list(moving.replicas),
                "adding": list(moving.adding_replicas),
                "removing": list(moving.removing_replicas),
            }
            for key, moving in ongoing.items()
        )
        columns = [
            TOPIC,
            PARTITION,
            *text_columns("replicas", "adding", "removing"),
        ]
        output.show(Table("partitions", columns, rows), empty="nothing moves")

    async def ask(admin: AdminClient) -> Mapping[TopicPartition, OngoingReassignment]:
        return await admin.list_partition_reassignments()

    ask_and_show(cluster, output, ask, show, watch)


def key_values(key: TopicPartition) -> dict[str, Any]:
    """Return the columns that name a partition."""
    return {"topic": key.topic, "partition": key.partition}
