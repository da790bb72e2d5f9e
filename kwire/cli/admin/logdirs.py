"""`kwire logdirs`: the log directories of brokers, and moves between them (KIP-113)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.admin.logdir_rows import Grouping, log_dir_table
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.errors import WrongUsage, usage_errors
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, option, repeated
from kwire.cli.output import Column, Output, Table, dry_run_facts, text_columns

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.logdirs import ReplicaLogDirs
    from kwire.admin.outcomes import Outcomes
    from kwire.admin.topic_partition import TopicPartitionReplica

app = command_group("Describe log directories; move replicas between them.")

REPLICAS = argument(metavar="TOPIC-PARTITION@BROKER...", help="As orders-3@1.")


@app.command("describe")
@asks_cluster(registry.DESCRIBE_LOG_DIRS)
def describe_log_dirs(
    cluster: ClusterOptions,
    output: Output,
    broker: list[int] = repeated(
        "--broker", "-b", metavar="ID", help="By default all. Repeatable."
    ),
    broker_list: str | None = option(metavar="ID,...", help="The same, as kafka-log-dirs has it."),
    topic: list[str] = repeated(
        "--topic", "-t", metavar="NAME", help="Only its replicas. Repeatable."
    ),
    topic_list: str | None = option(metavar="NAME,...", help="The same, as kafka-log-dirs has it."),
    by: Grouping = option("--by", default=Grouping.DIRECTORY, help="What a row is for."),
) -> None:
    """Show the log directories of brokers, their sizes and failures.

    \b
    kwire logdirs describe --bootstrap-server localhost:9092
    kwire logdirs describe --by topic --bootstrap-server localhost:9092
    """

    brokers = [*broker, *_numbers(broker_list)]
    topics = {*topic, *filter(None, (topic_list or "").split(","))}
    outcomes = cluster.run(lambda admin: admin.describe_log_dirs(brokers or None))
    output.show(log_dir_table(outcomes, by, lambda name: not topics or name in topics))


def _numbers(text: str | None) -> list[int]:
    try:
        return [int(number) for number in (text or "").split(",") if number]
    except ValueError:
        raise WrongUsage(f"--broker-list is {text!r}: write 1,2,3.") from None


@app.command("replicas")
@asks_cluster(registry.DESCRIBE_REPLICA_LOG_DIRS)
def describe_replica_log_dirs(
    cluster: ClusterOptions, output: Output, replicas: list[str] = REPLICAS
) -> None:
    """Show the directories of replicas, and where they move to.

    \b
    kwire logdirs replicas orders-3@1 orders-3@2 --bootstrap-server localhost:9092
    """
    parsed_replicas = _parsed(replicas)
    outcomes = cluster.run(lambda admin: admin.describe_replica_log_dirs(parsed_replicas))
    output.show(_locations(outcomes))


def _locations(outcomes: Outcomes[TopicPartitionReplica, ReplicaLogDirs]) -> Table:
    columns = [
        *text_columns("replica", "currentLogDir"),
        Column(key="currentOffsetLag", right=True),
        Column(key="futureLogDir"),
        Column(key="futureOffsetLag", right=True),
    ]

    def row(replica: TopicPartitionReplica, directories: ReplicaLogDirs) -> dict[str, Any]:
        return {
            "replica": str(replica),
            "currentLogDir": directories.current,
            "currentOffsetLag": directories.current_offset_lag,
            "futureLogDir": directories.future,
            "futureOffsetLag": directories.future_offset_lag,
        }

    return Table.of_outcomes("replicas", columns, outcomes, row)


@app.command("move")
@asks_cluster(registry.ALTER_REPLICA_LOG_DIRS)
def alter_replica_log_dirs(
    cluster: ClusterOptions,
    output: Output,
    replicas: list[str] = REPLICAS,
    to: str = option(default=..., metavar="DIRECTORY", help="As in the broker's log.dirs."),
    dry_run: bool = flag("--dry-run", help="Check replicas and directory, and change nothing."),
) -> None:
    """Move replicas to another log directory of their broker.

    `kwire logdirs replicas` shows how far they are.

    \b
    kwire logdirs move orders-3@1 --to /disk2/kafka --bootstrap-server localhost:9092
    """
    directories = dict.fromkeys(_parsed(replicas), to)
    outcomes: Outcomes[TopicPartitionReplica, None] = cluster.run(
        lambda admin: (
            _check_move(admin, directories)
            if dry_run
            else admin.alter_replica_log_dirs(directories)
        ),
    )
    columns = text_columns("replica", "logDir")

    def row(replica: TopicPartitionReplica, _: None) -> dict[str, Any]:
        return {"replica": str(replica), "logDir": to}

    facts = dry_run_facts(dry_run)
    output.show(Table.of_outcomes("replicas", columns, outcomes, row, facts=facts))


async def _check_move(
    admin: AdminClient, directories: dict[TopicPartitionReplica, str]
) -> Outcomes[TopicPartitionReplica, None]:
    """Return what a move would come to, as far as the brokers' directories tell."""
    from kwire.admin.errors import refusal
    from kwire.admin.outcomes import Outcomes
    from kwire.error_codes import ErrorCode

    located = await admin.describe_replica_log_dirs(directories)
    described = await admin.describe_log_dirs({replica.broker_id for replica in located})
    checked: dict[TopicPartitionReplica, Any] = dict(located.failed)
    for replica in located:
        path = directories[replica]
        known = described[replica.broker_id]
        if path in known:
            checked[replica] = known[path].error
        else:
            listed = f"broker {replica.broker_id} has {', '.join(known)}"
            checked[replica] = refusal(ErrorCode.LOG_DIR_NOT_FOUND, listed)
    return Outcomes({replica: checked[replica] for replica in directories})


def _parsed(texts: list[str]) -> list[TopicPartitionReplica]:
    from kwire.admin.topic_partition import TopicPartitionReplica

    with usage_errors():
        return list(dict.fromkeys(map(TopicPartitionReplica.parse, texts)))
