"""`kwire topics`: create, list, describe, grow and delete topics, as kafka-topics does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, confirm
from kwire.cli.errors import WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, option, repeated
from kwire.cli.output import Column, Output, Table, dry_run_facts, number_columns, text_columns
from kwire.cli.watching import WATCH, ask_and_show
from kwire.text.ids import parse_uuid, uuid_text

if TYPE_CHECKING:
    from uuid import UUID

    from kwire.admin import AdminClient
    from kwire.admin.outcomes import Outcomes
    from kwire.admin.topic_descriptions import PartitionDescription, TopicDescription, TopicKey
    from kwire.admin.topics import CreatedTopic, NewTopic
    from kwire.cli.admin.topic_health import TopicsWithMinimum

app = command_group("Create, list, describe, grow and delete topics.")

NAMES = argument(metavar="NAME...", help="Names of topics.")
ALL_FENCED = "All brokers are currently fenced."
"""Controllers say so, too, if no broker is registered (StripedReplicaPlacer)."""

TO_TRY = "To try things, `kwire demo --keep --ports 9093 --brokers 1` runs one at localhost:9092"
"""The way on from controllers alone, such as those of `kwire demo --keep`."""

DRY_RUN = flag("--dry-run", help="Have the controller check it, and change nothing.")


@app.command("create")
@asks_cluster(registry.CREATE_TOPICS)
def create_topics(
    cluster: ClusterOptions,
    output: Output,
    names: list[str] = NAMES,
    partitions: int | None = option(
        "--partitions", "-p", min=1, help="By default the brokers' num.partitions."
    ),
    replication_factor: int | None = option(
        "--replication-factor", "-r", min=1, help="By default the brokers' own."
    ),
    replica_assignment: str | None = option(
        metavar="1:2,2:3,...", help="The brokers of each partition in order."
    ),
    config: list[str] = repeated(
        "--config", "-c", metavar="NAME=VALUE", help="Topic configuration. Repeatable."
    ),
    if_not_exists: bool = flag("--if-not-exists", help="Leave a topic that exists as it is."),
    dry_run: bool = DRY_RUN,
) -> None:
    """Create topics.

    \b
    kwire topics create orders -p 6 -r 3 -c retention.ms=86400000 --bootstrap-server localhost:9092
    """
    from kwire.admin.topics import NewTopic

    assignments = _assignments(replica_assignment)
    if assignments and (partitions or replication_factor):
        raise WrongUsage("give --replica-assignment or the numbers, not both.")
    topics = [
        NewTopic(
            name=name,
            partitions=partitions,
            replication_factor=replication_factor,
            assignments=assignments,
            configs=_configs(config),
        )
        for name in names
    ]
    outcomes = cluster.run(lambda admin: _created(admin, topics, dry_run=dry_run))

    def row(name: str, created: CreatedTopic) -> dict[str, Any]:
        return {
            "topic": name,
            "topicId": _id_text(created.topic_id),
            "partitions": created.partitions,
            "replicationFactor": created.replication_factor,
            "state": "possible" if dry_run else "created",
        }

    columns = [
        *text_columns("topic", "topicId"),
        *number_columns("partitions", "replicationFactor"),
        Column(key="state"),
    ]
    table = Table.of_outcomes("topics", columns, outcomes, row, facts=dry_run_facts(dry_run))
    if if_not_exists:
        _forgive(table, "existed", "TOPIC_ALREADY_EXISTS")
    output.show(table)
    if any(row["message"] == ALL_FENCED for row in table.rows):
        output.say(
            "Partitions need a broker that is registered and not fenced: `kwire doctor` says which"
            f" there are. {TO_TRY}."
        )


async def _created(
    admin: AdminClient, topics: list[NewTopic], *, dry_run: bool
) -> Outcomes[str, CreatedTopic]:
    from kwire.errors import UnsupportedEndpointType

    try:
        return await admin.create_topics(topics, validate_only=dry_run)
    except UnsupportedEndpointType as error:
        sentence = f"{error}. Either way partitions need a broker. {TO_TRY}"
        raise UnsupportedEndpointType(sentence) from None


@app.command("list")
@asks_cluster(registry.LIST_TOPICS)
def list_topics(
    cluster: ClusterOptions,
    output: Output,
    internal: bool = option(
        "--internal/--no-internal", default=True, help="Also those of Kafka itself."
    ),
    matching: str | None = option("--filter", metavar="REGEX", help="Names that match whole."),
) -> None:
    """List topics by name, with their ids.

    \b
    kwire topics list --bootstrap-server localhost:9092 -o name
    """
    matches = _matcher(matching)
    listed = cluster.run(lambda admin: admin.list_topics())
    rows = [
        {
            "topic": topic.name,
            "topicId": _id_text(topic.topic_id),
            "internal": topic.is_internal,
        }
        for topic in listed
        if (internal or not topic.is_internal) and matches(topic.name)
    ]
    columns = text_columns("topic", "topicId", "internal")
    output.show(Table("topics", columns, rows), empty="no topics")


@app.command("describe")
@asks_cluster(registry.DESCRIBE_TOPICS)
def describe_topics(
    cluster: ClusterOptions,
    output: Output,
    names: list[str] = argument(default=[], metavar="[NAME]...", help="By default all topics."),
    ids: list[str] = repeated("--id", metavar="UUID", help="A topic's id. Repeatable."),
    matching: str | None = option("--filter", metavar="REGEX", help="Names that match whole."),
    under_replicated: bool = flag(
        "--under-replicated", help="Partitions with replicas out of sync."
    ),
    under_min_isr: bool = flag("--under-min-isr", help="Fewer in sync than min.insync.replicas."),
    at_min_isr: bool = flag("--at-min-isr", help="Just as many in sync as min.insync.replicas."),
    unavailable: bool = flag("--unavailable", help="Partitions without a leader."),
    watch: float | None = WATCH,
) -> None:
    """Describe the partitions of topics and their replicas.

    Several of the filters show partitions for which any of them holds.

    \b
    kwire topics describe orders --bootstrap-server localhost:9092
    kwire topics describe --under-replicated --watch 2 --bootstrap-server localhost:9092
    """
    from kwire.cli.admin.topic_health import PartitionFilter, describe_with_minimum

    matches = _matcher(matching)
    keys: list[TopicKey] = [*names, *(parse_uuid(text) for text in ids)]
    health = PartitionFilter(
        under_replicated=under_replicated,
        under_min_isr=under_min_isr,
        at_min_isr=at_min_isr,
        unavailable=unavailable,
    )

    async def describe(admin: AdminClient) -> TopicsWithMinimum:
        chosen = keys or None
        if not keys and matching is not None:
            chosen = [t.name for t in await admin.list_topics() if matches(t.name)]
        return await describe_with_minimum(admin, chosen, health)

    def show(described: TopicsWithMinimum) -> None:
        outcomes, minimum = described
        table = Table.of_outcomes(
            "partitions",
            PARTITION_COLUMNS,
            outcomes,
            lambda _, topic: _partition_rows(
                topic, lambda partition: health.shows(partition, minimum.get(topic.name))
            ),
        )
        output.show(table, empty="no partitions")

    ask_and_show(cluster, output, describe, show, watch)


PARTITION_COLUMNS = [
    Column(key="topic"),
    Column(key="topicId", wide=True),
    *number_columns("partition", "leader"),
    Column(key="leaderEpoch", right=True, wide=True),
    *text_columns("replicas", "isr", "elr"),
    Column(key="lastKnownElr", wide=True),
    Column(key="offline"),
]


def _partition_rows(
    topic: TopicDescription, shown: Callable[[PartitionDescription], bool]
) -> Iterator[dict[str, Any]]:
    topic_id = _id_text(topic.topic_id)
    for partition in filter(shown, topic.partitions):
        yield {
            "topic": topic.name,
            "topicId": topic_id,
            "partition": partition.partition,
            "leader": partition.leader_id,
            "leaderEpoch": partition.leader_epoch,
            "replicas": list(partition.replicas),
            "isr": list(partition.isr),
            "elr": None if partition.elr is None else list(partition.elr),
            "lastKnownElr": (
                None if partition.last_known_elr is None else list(partition.last_known_elr)
            ),
            "offline": list(partition.offline),
        }


@app.command("grow")
@asks_cluster(registry.CREATE_PARTITIONS)
def create_partitions(
    cluster: ClusterOptions,
    output: Output,
    names: list[str] = NAMES,
    partitions: int = option(
        "--partitions", "-p", default=..., min=1, help="As many as it is to have in all."
    ),
    replica_assignment: str | None = option(
        metavar="1:2,2:3,...", help="The brokers of each new partition in order."
    ),
    dry_run: bool = DRY_RUN,
) -> None:
    """Give topics more partitions. Keys of records then fall into other partitions than before.

    \b
    kwire topics grow orders --partitions 12 --bootstrap-server localhost:9092
    """
    from kwire.admin.topics import TopicGrowth

    growth = TopicGrowth(partitions=partitions, assignments=_assignments(replica_assignment))
    outcomes = cluster.run(
        lambda admin: admin.create_partitions(dict.fromkeys(names, growth), validate_only=dry_run),
    )
    columns = [Column(key="topic"), Column(key="partitions", right=True)]
    output.show(
        Table.of_outcomes(
            "topics",
            columns,
            outcomes,
            lambda name, _: {"topic": name, "partitions": partitions},
            facts=dry_run_facts(dry_run),
        )
    )


@app.command("delete")
@asks_cluster(registry.DELETE_TOPICS)
def delete_topics(
    cluster: ClusterOptions,
    output: Output,
    names: list[str] = argument(default=[], metavar="[NAME]...", help="Names of topics."),
    ids: list[str] = repeated("--id", metavar="UUID", help="A topic's id. Repeatable."),
    if_exists: bool = flag("--if-exists", help="A topic that does not exist is no error."),
    yes: bool = YES,
) -> None:
    """Delete topics and their records, for good.

    \b
    kwire topics delete orders --yes --bootstrap-server localhost:9092
    """

    keys: list[TopicKey] = [*names, *(parse_uuid(text) for text in ids)]
    if not keys:
        raise WrongUsage("name a topic, or give --id.")
    described = ", ".join(_key_text(key) for key in keys)
    confirm(f"Delete {described} with all records?", yes=yes)
    outcomes = cluster.run(lambda admin: admin.delete_topics(keys))
    table = Table.of_outcomes(
        "topics",
        text_columns("topic", "state"),
        outcomes,
        lambda key, _: {"topic": _key_text(key), "state": "deleted"},
        key_values=lambda key: {"topic": _key_text(key)},
    )
    if if_exists:
        _forgive(table, "not there", "UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID")
    output.show(table)


def _forgive(table: Table, state: str, *names: str) -> None:
    """Take these errors for success: the caller said that they are. state: in place of them."""
    for row in table.rows:
        if row.get("error") in names:
            row["error"] = row["message"] = None
            row["state"] = state


def _assignments(text: str | None) -> list[list[int]]:
    """Read `1:2,2:3`: the replicas of two partitions. Raises WrongUsage."""
    if text is None:
        return []
    try:
        return [[int(broker) for broker in replicas.split(":")] for replicas in text.split(",")]
    except ValueError:
        raise WrongUsage(
            f"--replica-assignment is {text!r}: write 1:2,2:3 for two partitions."
        ) from None


def _configs(texts: list[str]) -> dict[str, str]:
    configs = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise WrongUsage(f"--config {text!r} has no value: write NAME=VALUE.")
        configs[name] = value
    return configs


def _matcher(pattern: str | None) -> Callable[[str], bool]:
    import re

    if pattern is None:
        return lambda name: True
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise WrongUsage(f"--filter {pattern!r} is no regular expression: {error}.") from error
    return lambda name: compiled.fullmatch(name) is not None


def _id_text(topic_id: UUID | None) -> str | None:
    return None if topic_id is None else uuid_text(topic_id)


def _key_text(key: TopicKey) -> str:
    return key if isinstance(key, str) else uuid_text(key)
