"""`kwire brokers`: list registered brokers, and forget those that are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.admin.cluster import node_rows
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, check_answerable, confirm
from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.event_loop import run
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, flag, repeated
from kwire.cli.output import Column, Output, Table, dry_run_facts, text_columns
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.cluster_description import ClusterDescription
    from kwire.admin.outcomes import Outcomes
    from kwire.image.broker import BrokerRegistration

app = command_group("List registered brokers, and unregister those that are gone.")

BROKER_COLUMNS = [
    Column(key="id", right=True),
    Column(key="host"),
    Column(key="port", right=True),
    *text_columns("rack", "state"),
    Column(key="listeners", wide=True),
]


@app.command("list")
@asks_cluster(registry.DESCRIBE_CLUSTER)
def list_brokers(cluster: ClusterOptions, output: Output) -> None:
    """List every registered broker, fenced ones too.

    Controllers do not list brokers: asked there, the metadata log is read, which takes the right
    CLUSTER_ACTION where there are ACLs. Brokers before Kafka 4.0 list no fenced ones.

    \b
    kwire brokers list --bootstrap-server localhost:9092
    """
    if cluster.controller:
        registered = [broker for _, broker in sorted(_registered(cluster).items())]
        rows = [_registration_row(broker) for broker in registered]
    else:
        rows = node_rows(_with_fenced(cluster, output), "broker")
    output.show(Table("brokers", BROKER_COLUMNS, rows), empty="no brokers")


def _with_fenced(cluster: ClusterOptions, output: Output) -> ClusterDescription:
    from kwire.errors import UnsupportedVersion

    async def describe(admin: AdminClient) -> ClusterDescription:
        try:
            return await admin.describe_cluster(include_fenced_brokers=True)
        except UnsupportedVersion as error:
            output.warn(str(error))
            return await admin.describe_cluster()

    return cluster.run(describe)


def _registered(cluster: ClusterOptions) -> dict[int, BrokerRegistration]:
    """Return the brokers that are registered in the metadata log, by id."""
    from kwire.cli.metadata_sources import ControllerSource

    assert cluster.controller is not None
    source = ControllerSource(
        name=cluster.controller,
        controllers=cluster.controller,
        command_config=cluster.command_config,
        timeouts=cluster.timeouts,
    )
    return dict(run(source.read()).image.cluster.brokers.items())


def _registration_row(broker: BrokerRegistration) -> dict[str, Any]:
    listeners = [
        f"{endpoint.name}://{endpoint.host}:{endpoint.port}" for endpoint in broker.endpoints
    ]
    first = broker.endpoints[0] if broker.endpoints else None
    return {
        "id": broker.id,
        "host": first.host if first else None,
        "port": first.port if first else None,
        "rack": broker.rack,
        "state": "fenced" if broker.fenced else "unfenced",
        "listeners": listeners,
    }


@app.command("unregister")
@asks_cluster(registry.UNREGISTER_BROKER)
def unregister_broker(
    cluster: ClusterOptions,
    output: Output,
    ids: list[int] = argument(default=[], metavar="[ID]...", help="Node ids of brokers."),
    id_flags: list[int] = repeated(
        "--id", "-i", metavar="ID", help="The same, as kafka-cluster has it."
    ),
    force: bool = flag(
        "--force", help="Also one that runs and cannot go on then, or has replicas."
    ),
    dry_run: bool = flag("--dry-run", help="Check that they may go, and change nothing."),
    yes: bool = YES,
) -> None:
    """Have the controller forget brokers that are gone.

    Refused for one that is not fenced, and while partitions have it as replica: Kafka checks
    neither, and such a replica stays in the list of its partition, never in sync again.

    \b
    kwire brokers unregister 4 --bootstrap-controller localhost:9093
    """
    broker_ids = list(dict.fromkeys([*ids, *id_flags]))
    if not broker_ids:
        raise WrongUsage("name a broker by its id.")
    question = f"Unregister broker {', '.join(map(str, broker_ids))}?"
    check_answerable(question, yes=yes or dry_run)
    states = {} if force and not dry_run else _states(cluster, output)
    running = (
        [] if force else [broker_id for broker_id in broker_ids if states.get(broker_id) is False]
    )
    if running:
        raise CommandFailed(
            f"broker {', '.join(map(str, running))} is not fenced, it seems to run: stop it first,"
            " or give --force. Nothing was changed."
        )
    if not force:
        _refuse_replicas(cluster, broker_ids)
    confirm(question, yes=yes or dry_run)
    outcomes = _checked(broker_ids, states) if dry_run else _unregister(cluster, broker_ids)
    table = Table.of_outcomes(
        "brokers",
        [Column(key="id", right=True), Column(key="state")],
        outcomes,
        lambda broker_id, _: {"id": broker_id, "state": "fenced" if dry_run else "unregistered"},
        key_values=lambda broker_id: {"id": broker_id},
        facts=dry_run_facts(dry_run),
    )
    output.show(table)


def _refuse_replicas(cluster: ClusterOptions, broker_ids: list[int]) -> None:
    """Raise CommandFailed if partitions have one of these brokers as replica."""
    from collections import Counter

    topics = cluster.run(lambda admin: admin.describe_topics())
    listing = Counter(
        replica
        for topic in topics.values()
        for partition in topic.partitions
        for replica in partition.replicas
    )
    for broker_id in broker_ids:
        if number := listing[broker_id]:
            partitions = "1 partition" if number == 1 else f"{number} partitions"
            raise CommandFailed(
                f"broker {broker_id} is a replica of {partitions}: kwire partitions reassign plan"
                f" --drain {broker_id} first, or give --force. Nothing was changed."
            )


def _states(cluster: ClusterOptions, output: Output) -> dict[int, bool]:
    """Return for each registered broker whether it is fenced; old brokers tell no fenced ones."""
    from kwire.errors import BrokerError

    if not cluster.controller:
        nodes = _with_fenced(cluster, output).nodes
        return {broker_id: node.is_fenced for broker_id, node in nodes.items()}
    try:
        return {broker_id: broker.fenced for broker_id, broker in _registered(cluster).items()}
    except BrokerError as error:
        raise CommandFailed(
            "whether they run is not known, since the metadata log may not be read"
            f" ({harmless(str(error))}): give --bootstrap-server, or --force."
        ) from error


def _checked(broker_ids: list[int], states: dict[int, bool]) -> Outcomes[int, None]:
    from kwire.admin.errors import refusal
    from kwire.admin.outcomes import Outcomes
    from kwire.error_codes import ErrorCode

    missing = refusal(ErrorCode.BROKER_ID_NOT_REGISTERED, "no broker with this id is listed")
    return Outcomes(
        {broker_id: None if broker_id in states else missing for broker_id in broker_ids}
    )


def _unregister(cluster: ClusterOptions, broker_ids: list[int]) -> Outcomes[int, None]:
    """Unregister one broker after the other; what fails for one does not stop the others."""
    from kwire.admin.outcomes import Outcomes
    from kwire.errors import BrokerError, KwireError

    async def unregister(admin: AdminClient) -> dict[int, KwireError | None]:
        results: dict[int, KwireError | None] = {}
        for broker_id in broker_ids:
            try:
                await admin.unregister_broker(broker_id)
                results[broker_id] = None
            except BrokerError as error:
                results[broker_id] = error
        return results

    return Outcomes(cluster.run(unregister))
