"""`kwire controller`: a KRaft controller of kwire's own, or a whole quorum of them."""

from __future__ import annotations

from pathlib import Path

from kwire.cli.controller.options import METRICS, QuorumOptions
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, reads_options

app = command_group("Run KRaft controllers for tests and laboratories.")


@app.command()
@reads_options
def run(
    config: Path = argument(metavar="FILE", help="The node's server.properties."),
    metrics: str | None = METRICS,
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
    from kwire.cli.controller.run import run_node

    run_node(config, metrics)


@app.command()
@reads_options
def quorum(options: QuorumOptions) -> None:
    """Run a quorum on 127.0.0.1 until Ctrl-C, and say what brokers need to join it.

    With --brokers, Apache Kafka's brokers run beside it, and their bootstrap.servers are printed
    when none is fenced. They end with this command, even if that is killed.

    \b
    kwire controller quorum -n 3
    kwire controller quorum --ports 9093 --brokers 1
    kwire controller quorum -n 3 --brokers 2 --kafka-version 4.4.0
    kwire controller quorum -n 3 --property super.users=User:ANONYMOUS \\
      --property authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
    kwire quorum status --bootstrap-controller 127.0.0.1:PORT
    """
    from kwire.cli.controller.run import run_quorum

    run_quorum(options)
