"""The steps of the comparison by Kafka's tools: command lines, group by group."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tests.support.controller.live.tool_directory_steps import directories
from tests.support.controller.live.tool_group_steps import groups, transactions
from tests.support.controller.live.tool_security_steps import credentials, tokens
from tests.support.controller.live.tool_step import (
    CONFIGS,
    CONTROLLERS,
    SERVERS,
    TOOLS,
    CallStep,
    ToolStep,
    step,
    step_at,
)

QUORUM = "MetadataQuorumCommand"
MOVING = "Epoch|HighWatermark|Max|Lag|Observers"
"""Lines about the quorum that are each run's own."""


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
        yield step("TopicCommand", words)
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
        yield step("TopicCommand", words)
    yield step("TopicCommand", "--delete --topic k")


def configs() -> Iterator[ToolStep]:
    """Configurations of every entity that has no quotas."""
    yield from _altered(
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
    )
    for words in (
        "--describe --entity-type topics --entity-name nothing",
        "--alter --entity-type topics --entity-name nothing --add-config retention.ms=1",
        "--describe --entity-type client-metrics",
        "--describe --entity-type groups",
        "--describe --entity-type brokers",
    ):
        yield step(CONFIGS, words)
    for words in (
        "--describe --entity-type brokers --entity-default",
        "--alter --entity-type brokers --entity-default --add-config log.cleaner.threads=3",
        "--describe --entity-type brokers --entity-default",
        "--alter --entity-type brokers --entity-default --delete-config log.cleaner.threads",
    ):
        yield step_at(CONTROLLERS, CONFIGS, words)


def _altered(*entities: tuple[str, str, str]) -> Iterator[ToolStep]:
    """Set, show and remove a right value of each entity, and try a wrong one."""
    for entity, good, bad in entities:
        key = good.partition("=")[0]
        for words in (
            f"--alter {entity} --add-config {good}",
            f"--describe {entity}",
            f"--alter {entity} --add-config {bad}",
            f"--alter {entity} --delete-config {key}",
            f"--describe {entity}",
        ):
            yield step(CONFIGS, words)


def quotas() -> Iterator[ToolStep]:
    """Quotas of users, client ids and addresses, of single ones, of both and of all."""
    yield from _altered(
        ("--entity-type users --entity-name u", "producer_byte_rate=1000", "producer_byte_rate=x"),
        ("--entity-type clients --entity-name k", "request_percentage=50", "no_such=1"),
        (
            "--entity-type ips --entity-name 10.0.0.1",
            "connection_creation_rate=5",
            "producer_byte_rate=5",
        ),
    )
    for words in (
        "--alter --entity-type users --entity-default --add-config consumer_byte_rate=7",
        "--describe --entity-type users --entity-default",
        "--describe --entity-type users",
        "--alter --entity-type users --entity-name u --entity-type clients --entity-name k"
        " --add-config consumer_byte_rate=9",
        "--describe --entity-type users --entity-name u --entity-type clients --entity-name k",
        "--alter --entity-type users --entity-default --delete-config consumer_byte_rate",
        "--describe --entity-type ips",
    ):
        yield step(CONFIGS, words)
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
            yield step(CONFIGS, words)


def passwords() -> Iterator[ToolStep]:
    """SCRAM credentials of one user."""
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
        yield step(CONFIGS, words)


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
        yield step("AclCommand", words)
    for resource, operation in (
        ("--transactional-id t", "Write"),
        ("--delegation-token t", "Describe"),
        ("--user-principal User:t", "CreateTokens"),
        ("--group t", "Write"),
    ):
        rule = f"{resource} --allow-principal User:carol --operation {operation}"
        for words in (f"--add {rule}", f"--list {resource}", f"--remove --force {rule}"):
            yield step("AclCommand", words)
    for words in (
        f"--add --topic z {alice}",
        "--list --topic z",
        "--remove --force --topic z",
        "--list --topic z",
    ):
        yield step_at(CONTROLLERS, "AclCommand", words)


def quorum() -> Iterator[ToolStep]:
    """The quorum, the cluster and its nodes."""
    for place in (SERVERS, CONTROLLERS):
        yield step_at(place, QUORUM, "describe --status", skip=MOVING)
        yield step_at(place, QUORUM, "remove-controller -i 9 -d AAAAAAAAAAAAAAAAAAAAAQ")
        for words in ("cluster-id", "list-endpoints", "unregister --id 77"):
            command, _, rest = words.partition(" ")
            yield ToolStep(
                name=f"ClusterTool {words}" + " at the controllers" * (place == CONTROLLERS),
                words=(f"{TOOLS}ClusterTool", command, *place, *rest.split()),
            )


def features() -> Iterator[ToolStep]:
    """Levels of features, and changes of them that are refused or change nothing."""
    for place in (SERVERS, CONTROLLERS):
        for words in (
            "describe",
            "upgrade --feature metadata.version=999",
            "upgrade --feature no.such=1",
            "downgrade --feature group.version=9",
            "upgrade --feature group.version=1 --dry-run",
            "disable --feature no.such",
            "downgrade --feature metadata.version=1",
        ):
            yield step_at(place, "FeatureCommand", words)


def reassignments() -> Iterator[ToolStep]:
    """Partitions get other replicas."""
    reassign = "reassign.ReassignPartitionsCommand"
    for words in (
        "--list",
        "--reassignment-json-file {plan} --execute",
        "--reassignment-json-file {plan} --verify",
        "--reassignment-json-file {plan} --cancel",
        "--reassignment-json-file {plan}.none --execute",
        "--list",
    ):
        yield step(reassign, words)
    yield step("TopicCommand", "--describe --topic b")


def elections() -> Iterator[ToolStep]:
    """Elections of both kinds, needed or not."""
    for election in ("preferred", "unclean"):
        for words in (
            "--all-topic-partitions",
            "--topic b --partition 0",
            "--topic b --partition 9",
            "--topic nothing --partition 0",
        ):
            yield step("LeaderElectionCommand", f"--election-type {election} {words}")


def voters() -> Iterator[ToolStep]:
    """A controller is added and removed, through the controllers and through the brokers.

    The file {joining} is its server.properties, {joining_directory} its directory's id.
    """
    for place in (CONTROLLERS, SERVERS):
        with_config = (*place, "--command-config", "{joining}")
        yield step_at(with_config, QUORUM, "add-controller --dry-run")
        # It has to catch up first.
        yield step_at(with_config, QUORUM, "add-controller", until="Added controller")
        yield step_at(with_config, QUORUM, "add-controller")
        yield step_at(place, QUORUM, "describe --status", skip=MOVING)
        yield step_at(place, QUORUM, "describe --replication")
        remove = "remove-controller --controller-id 3200 --controller-directory-id"
        for words in (
            f"{remove} AAAAAAAAAAAAAAAAAAAAAQ",
            f"{remove} {{joining_directory}} --dry-run",
            f"{remove} {{joining_directory}}",
            f"{remove} {{joining_directory}}",
            "describe --status",
        ):
            yield step_at(place, QUORUM, words, skip=MOVING)


THEMES: Mapping[str, tuple[Callable[[], Iterator[ToolStep | CallStep]], ...]] = {
    "topics": (topics,),
    "configurations": (configs,),
    "quotas": (quotas,),
    "SCRAM credentials": (passwords, credentials),
    "ACLs": (acls,),
    "quorum": (quorum, voters),
    "features": (features,),
    "reassignments": (reassignments,),
    "elections": (elections,),
    "log directories": (directories,),
    "groups": (groups,),
    "transactions, offsets, client metrics": (transactions,),
    "delegation tokens": (tokens,),
}
"""The lists of steps by what they are about; controller.md has how many there are."""


def every_step() -> list[ToolStep | CallStep]:
    """Return all steps in their order; they build on each other."""
    order = (
        *(topics, configs, quotas, passwords, acls, quorum, features, reassignments, elections),
        *(directories, groups, transactions, credentials, tokens, voters),
    )
    return [step for steps in order for step in steps()]


def count_of_steps() -> dict[str, int]:
    """Return how many steps each theme has."""
    return {name: sum(len(list(steps())) for steps in lists) for name, lists in THEMES.items()}
