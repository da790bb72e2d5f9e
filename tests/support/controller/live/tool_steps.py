"""The steps of the comparison by Kafka's tools: command lines, group by group.

In the words `{servers}` stands for the brokers, `{controllers}` for the controllers, `{plan}` for
the file of the PLAN.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

TOOLS = "org.apache.kafka.tools."
CONFIGS = "kafka.admin.ConfigCommand"
PLAN = (
    '{"version":1,"partitions":[{"topic":"b","partition":0,"replicas":[2,1]},'
    '{"topic":"b","partition":1,"replicas":[1]}]}'
)
"""A file for ReassignPartitionsCommand: another order, and a replica fewer."""
SERVERS = ("--bootstrap-server", "{servers}")
CONTROLLERS = ("--bootstrap-controller", "{controllers}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStep:
    """A command line of one of Kafka's tools.

    seconds: how long it may take. skip: a regular expression of lines that are each run's own.
    """

    name: str
    words: tuple[str, ...]
    text: str = ""
    seconds: int = 60
    skip: str = ""


def _step(tool: str, words: str, *, skip: str = "") -> ToolStep:
    """Make a step of a tool and its words, asked at the brokers."""
    return _at(SERVERS, tool, words, skip=skip)


def _at(place: tuple[str, ...], tool: str, words: str, *, skip: str = "") -> ToolStep:
    main = tool if tool.startswith("kafka.") else TOOLS + tool
    name = f"{main.rpartition('.')[2]} {words}"
    if place == CONTROLLERS:
        name += " at the controllers"
    return ToolStep(name=name, words=(main, *place, *words.split()), skip=skip)


def topics() -> Iterator[ToolStep]:
    """Create, alter, describe and delete topics."""
    for words in (
        "--create --topic a --partitions 2 --replication-factor 2",
        "--create --topic a",
        "--create --topic a --if-not-exists",
        "--create --topic b --replica-assignment 1:2,2:1 --config retention.ms=1000",
        "--create --topic c --partitions 1 --replication-factor 1 --config no.such=1",
        "--create --topic c --partitions 1 --replication-factor 3",
        "--create --topic c --partitions 0",
        "--create --topic a/b",
        "--create --topic c --replica-assignment 1:1",
        "--create --topic c --replica-assignment 1:77",
        "--create --topic defaults",
        "--list",
        "--describe --topic b",
        "--describe --under-replicated-partitions",
        "--describe --unavailable-partitions",
        "--describe --at-min-isr-partitions --topic b",
        "--describe --topic nothing",
        "--alter --topic b --partitions 3 --replica-assignment 1:2,2:1,1:2",
        "--alter --topic b --partitions 2",
        "--alter --topic nothing --partitions 2",
        "--alter --topic nothing --partitions 2 --if-exists",
        "--create --topic gone --partitions 1 --replication-factor 1",
        "--delete --topic gone",
        "--delete --topic gone",
        "--delete --topic gone --if-exists",
    ):
        yield _step("TopicCommand", words)
    for config in (
        "cleanup.policy=burn",
        "cleanup.policy=compact,delete",
        "retention.ms=-2",
        "compression.type=zip",
        "compression.type=zstd",
        "min.insync.replicas=0",
        "max.message.bytes=-1",
        "segment.bytes=1",
        "message.timestamp.type=LogAppendTime",
        "remote.storage.enable=true",
        "unclean.leader.election.enable=perhaps",
        "leader.replication.throttled.replicas=x",
    ):
        words = f"--create --if-not-exists --topic k --replica-assignment 1:2 --config {config}"
        yield _step("TopicCommand", words)
    yield _step("TopicCommand", "--delete --topic k")


def configs() -> Iterator[ToolStep]:
    """Configurations of every entity."""
    for entity, good, bad in (
        ("--entity-type topics --entity-name b", "retention.ms=2000", "retention.ms=soon"),
        ("--entity-type brokers --entity-name 1", "log.cleaner.threads=2", "broker.id=5"),
        ("--entity-type brokers --entity-default", "log.cleaner.threads=2", "no.such=1"),
        ("--entity-type broker-loggers --entity-name 1", "kafka=DEBUG", "kafka=LOUD"),
        ("--entity-type client-metrics --entity-name m", "interval.ms=1000", "interval.ms=1"),
        (
            "--entity-type groups --entity-name g",
            "consumer.session.timeout.ms=50000",
            "consumer.session.timeout.ms=1",
        ),
        ("--entity-type users --entity-name u", "producer_byte_rate=1000", "producer_byte_rate=x"),
        ("--entity-type clients --entity-name k", "request_percentage=50", "no_such=1"),
        (
            "--entity-type ips --entity-name 10.0.0.1",
            "connection_creation_rate=5",
            "producer_byte_rate=5",
        ),
    ):
        key = good.partition("=")[0]
        for words in (
            f"--alter {entity} --add-config {good}",
            f"--describe {entity}",
            f"--alter {entity} --add-config {bad}",
            f"--alter {entity} --delete-config {key}",
            f"--describe {entity}",
        ):
            yield _step(CONFIGS, words)
    for words in (
        "--describe --entity-type topics --entity-name nothing",
        "--alter --entity-type topics --entity-name nothing --add-config retention.ms=1",
        "--alter --entity-type users --entity-default --add-config consumer_byte_rate=7",
        "--describe --entity-type users --entity-default",
        "--describe --entity-type users",
        "--alter --entity-type users --entity-name u --entity-type clients --entity-name k"
        " --add-config consumer_byte_rate=9",
        "--describe --entity-type users --entity-name u --entity-type clients --entity-name k",
        "--alter --entity-type users --entity-default --delete-config consumer_byte_rate",
        "--describe --entity-type client-metrics",
        "--describe --entity-type groups",
        "--describe --entity-type ips",
    ):
        yield _step(CONFIGS, words)
    for entity, key in (
        ("clients", "producer_byte_rate"),
        ("ips", "connection_creation_rate"),
        ("users", "controller_mutation_rate"),
    ):
        who = f"--entity-type {entity} --entity-default"
        for words in (
            f"--alter {who} --add-config {key}=7",
            f"--describe {who}",
            f"--alter {who} --delete-config {key}",
        ):
            yield _step(CONFIGS, words)
    for words in (
        "--alter --entity-type users --entity-name s --add-config"
        " SCRAM-SHA-256=[iterations=4096,password=secret]",
        "--describe --entity-type users --entity-name s",
        "--alter --entity-type users --entity-name s --add-config"
        " SCRAM-SHA-512=[iterations=1,password=secret]",
        "--alter --entity-type users --entity-name s --delete-config SCRAM-SHA-256",
        "--alter --entity-type users --entity-name s --delete-config SCRAM-SHA-256",
        "--describe --entity-type users --entity-name s",
    ):
        yield _step(CONFIGS, words)
    for words in (
        "--describe --entity-type brokers --entity-default",
        "--alter --entity-type brokers --entity-default --add-config log.cleaner.threads=3",
        "--describe --entity-type brokers --entity-default",
        "--alter --entity-type brokers --entity-default --delete-config log.cleaner.threads",
    ):
        yield _at(CONTROLLERS, CONFIGS, words)


def acls() -> Iterator[ToolStep]:
    """ACLs at brokers and at controllers."""
    alice = "--allow-principal User:alice --operation Read"
    for words in (
        f"--add --topic a {alice}",
        f"--add --topic a --resource-pattern-type prefixed {alice}",
        "--add --cluster --allow-principal User:bob --operation Alter",
        "--add --group g --deny-principal User:bob --operation Read --deny-host 10.0.0.1",
        "--add --topic a --allow-principal bob --operation Read",
        "--add --topic a --allow-principal User:bob --operation Write --producer",
        "--add --producer --topic p --allow-principal User:bob",
        "--add --consumer --topic p --group q --allow-principal User:bob",
        "--list",
        "--list --topic a",
        "--list --topic ab --resource-pattern-type match",
        "--list --principal User:bob",
        f"--remove --force --topic a {alice}",
        "--remove --force --topic nothing",
        "--list --topic a",
    ):
        yield _step("AclCommand", words)
    for resource, operation in (
        ("--transactional-id t", "Write"),
        ("--delegation-token t", "Describe"),
        ("--user-principal User:t", "CreateTokens"),
        ("--group t", "Write"),
    ):
        rule = f"{resource} --allow-principal User:carol --operation {operation}"
        for words in (f"--add {rule}", f"--list {resource}", f"--remove --force {rule}"):
            yield _step("AclCommand", words)
    for words in (
        f"--add --topic z {alice}",
        "--list --topic z",
        "--remove --force --topic z",
        "--list --topic z",
    ):
        yield _at(CONTROLLERS, "AclCommand", words)


def cluster() -> Iterator[ToolStep]:
    """Quorum, cluster, features and brokers."""
    quorum = "MetadataQuorumCommand"
    for place in (SERVERS, CONTROLLERS):
        yield _at(place, quorum, "describe --status", skip="Epoch|HighWatermark|Max|Lag|Observers")
        yield _at(place, quorum, "remove-controller -i 9 -d AAAAAAAAAAAAAAAAAAAAAQ")
        yield _at(place, "FeatureCommand", "describe", skip="^Feature: ")
        for words in (
            "upgrade --feature metadata.version=999",
            "upgrade --feature no.such=1",
            "downgrade --feature group.version=9",
            "upgrade --feature group.version=1 --dry-run",
            "disable --feature no.such",
            "downgrade --feature metadata.version=1",
        ):
            yield _at(place, "FeatureCommand", words)
    for words in ("cluster-id", "list-endpoints", "unregister --id 77"):
        command, _, rest = words.partition(" ")
        yield ToolStep(
            name=f"ClusterTool {words}",
            words=(f"{TOOLS}ClusterTool", command, *SERVERS, *rest.split()),
        )


def moves() -> Iterator[ToolStep]:
    """Reassignments, elections, directories, tokens."""
    reassign = "reassign.ReassignPartitionsCommand"
    for words in (
        "--list",
        "--reassignment-json-file {plan} --execute",
        "--reassignment-json-file {plan} --verify",
        "--reassignment-json-file {plan} --cancel",
        "--reassignment-json-file {plan}.none --execute",
        "--list",
    ):
        yield _step(reassign, words)
    yield _step("TopicCommand", "--describe --topic b")
    for election in ("preferred", "unclean"):
        for words in (
            "--all-topic-partitions",
            "--topic b --partition 0",
            "--topic b --partition 9",
            "--topic nothing --partition 0",
        ):
            yield _step("LeaderElectionCommand", f"--election-type {election} {words}")
    for words in ("--describe --topic-list b", "--describe --broker-list 1 --topic-list nothing"):
        yield _step("LogDirsCommand", words)
    for words in (
        "--create --max-life-time-period -1",
        "--describe",
        "--renew --hmac abcd --renew-time-period -1",
        "--expire --hmac abcd --expiry-time-period -1",
    ):
        yield _step("DelegationTokenCommand", words)


def groups() -> Iterator[ToolStep]:
    """Records, groups of every kind, transactions."""
    yield ToolStep(
        name="ConsoleProducer --topic a",
        words=(f"{TOOLS}ConsoleProducer", *SERVERS, "--topic", "a"),
        text="one\ntwo\nthree\n",
    )
    for group, protocol in (("g1", "classic"), ("g2", "consumer")):
        yield _step(
            "consumer.ConsoleConsumer",
            f"--topic a --group {group} --from-beginning --max-messages 3 --timeout-ms 30000"
            f" --consumer-property group.protocol={protocol}",
        )
    for words in (
        "--list",
        "--describe --group g1",
        "--describe --group g2",
        "--describe --group nobody",
        "--describe --group g1 --state",
        "--reset-offsets --group g1 --topic a --to-earliest --dry-run",
        "--reset-offsets --group g1 --topic a --to-earliest --execute",
        "--delete-offsets --group g1 --topic a",
        "--delete --group g1",
        "--delete --group nobody",
    ):
        yield _step("consumer.group.ConsumerGroupCommand", words, skip=r"^g[12] |^a \d")
    for tool in ("consumer.group.ShareGroupCommand", "streams.StreamsGroupCommand"):
        for words in ("--list", "--describe --group nobody", "--delete --group nobody"):
            yield _step(tool, words)
    for words in ("--list", "--list --consumer", "--list --share", "--list --streams"):
        yield _step("GroupsCommand", words)
    for words in ("list", "describe --transactional-id nobody", "describe-producers"):
        yield _step("TransactionsCommand", words)
    for words in ("--topic a", "--topic a --time -2", "--topic nothing", "--topic-partitions a:0"):
        yield _step("GetOffsetShell", words, skip="^a:")
    for words in (
        "--alter --name m2 --interval 5000 --metrics a.",
        "--describe --name m2",
        "--alter --name m2 --interval 1",
        "--list",
        "--delete --name m2",
    ):
        yield _step("ClientMetricsCommand", words)
    for words in ("--describe --topic b", "--delete --topic a", "--delete --topic b", "--list"):
        yield _step("TopicCommand", words)


def every_step() -> list[ToolStep]:
    """Return all steps in their order; they build on each other."""
    return [*topics(), *configs(), *acls(), *cluster(), *moves(), *groups()]
