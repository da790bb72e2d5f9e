"""The options of `kwire controller`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kwire.cli.cluster_ports import BROKERS, PORTS
from kwire.cli.options import flag, option, repeated
from kwire.cli.storage import ADD_SCRAM_FILE

METRICS = option(
    metavar="HOST:PORT", help="Serve Kafka's metrics to Prometheus, at /metrics there."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuorumOptions:
    """The options of `kwire controller quorum`. metrics: `host:port` to serve all nodes' at."""

    size: int = option(
        "--size", "-n", default=3, metavar="N", min=1, max=9, help="How many controllers."
    )
    ports: int | None = PORTS
    folder: Path | None = option(
        metavar="FOLDER", help="Keep the data here; by default it is removed at the end."
    )
    release_version: str | None = option(
        "--release-version", "-r", metavar="VERSION", help="Kafka's, as in 3.9-IV0."
    )
    metrics: str | None = METRICS
    properties: Path | None = option(
        metavar="FILE",
        help="Settings as in a server.properties, for all nodes; secret ones belong here.",
    )
    property: list[str] = repeated(
        metavar="NAME=VALUE",
        help="A setting of server.properties, for all nodes. May be given again.",
    )
    add_scram_file: Path | None = ADD_SCRAM_FILE
    brokers: int = BROKERS
    kafka_version: str | None = option(
        metavar="VERSION", help="Of the brokers; loaded through Maven at first."
    )
    kafka: Path | None = option(
        metavar="FOLDER", help="An unpacked Kafka to run; by default $KAFKA_HOME."
    )
    as_json: bool = flag("--json", help="Print the addresses as one JSON object.")
