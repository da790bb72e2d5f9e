"""`kwire controller`: a KRaft controller of kwire's own, or a whole quorum of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kwire.cli.storage import AddScramFile

_Metrics = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Serve Kafka's metrics to Prometheus, at /metrics there.",
    ),
]

_Properties = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Settings as in a server.properties, for all nodes; secret ones belong here.",
    ),
]

_Property = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="A setting of server.properties, for all nodes. May be given again.",
    ),
]

app = typer.Typer(
    help="Run KRaft controllers for tests and laboratories.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def run(
    config: Annotated[Path, typer.Argument(metavar="FILE", help="The node's server.properties.")],
    metrics: _Metrics = None,
) -> None:
    """Run one controller in the foreground, until SIGTERM or Ctrl-C; a leader hands over first.

    Its directories are those that `kwire storage format`, or kafka-storage, has formatted. Settings
    that kwire does not support are named on stderr.

    With zookeeper.metadata.migration.enable=true it migrates a cluster from ZooKeeper (KIP-866), as
    a controller of Kafka 3.9 does: for laboratories, and for tests of migrations.

    \b
    kwire storage format -c server.properties -t $(kwire storage random-uuid) --standalone
    kwire controller run server.properties
    """
    from kwire.cli.controller_run import run_node

    run_node(config, metrics)


@app.command()
def quorum(
    size: Annotated[
        int, typer.Option("--size", "-n", metavar="N", min=1, max=9, help="How many controllers.")
    ] = 3,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Keep the data here; by default it is removed at the end."
        ),
    ] = None,
    release_version: Annotated[
        str | None,
        typer.Option("--release-version", "-r", metavar="VERSION", help="Kafka's, as in 3.9-IV0."),
    ] = None,
    metrics: _Metrics = None,
    properties: _Properties = None,
    property: _Property = None,
    add_scram_file: AddScramFile = None,
    brokers: Annotated[
        int,
        typer.Option(metavar="N", min=0, max=9, help="Brokers of Apache Kafka beside; needs Java."),
    ] = 0,
    kafka_version: Annotated[
        str | None,
        typer.Option(metavar="VERSION", help="Of the brokers; loaded through Maven at first."),
    ] = None,
    kafka: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="An unpacked Kafka to run; by default $KAFKA_HOME."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the addresses as one JSON object.")
    ] = False,
) -> None:
    """Run a quorum on free ports of 127.0.0.1 until Ctrl-C, and say what brokers need to join it.

    With --brokers, Apache Kafka's brokers run beside it, and their bootstrap.servers are printed
    when none is fenced. They end with this command, even if that is killed.

    \b
    kwire controller quorum -n 3
    kwire controller quorum -n 3 --brokers 2 --kafka-version 4.4.0
    kwire controller quorum -n 3 --property super.users=User:ANONYMOUS \\
      --property authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
    kwire quorum status --bootstrap-controller 127.0.0.1:PORT
    """
    from kwire.cli.controller_run import QuorumOptions, run_quorum

    wanted = QuorumOptions(
        size=size,
        folder=folder,
        release=release_version,
        properties_file=properties,
        properties=property or [],
        scram_file=add_scram_file,
        brokers=brokers,
        kafka_version=kafka_version,
        kafka=kafka,
        as_json=as_json,
    )
    run_quorum(wanted, metrics)
