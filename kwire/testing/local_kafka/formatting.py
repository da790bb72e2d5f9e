"""Formats the directories of a node in place of Kafka's StorageTool, without a Java for it."""

from __future__ import annotations

from datetime import UTC, datetime

from kwire.errors import KwireError
from kwire.logdir.format import FormatOptions, plan, write
from kwire.logdir.server_properties import storage_properties
from kwire.logdir.voters import parse_initial_voters
from kwire.testing.local_kafka.node import KafkaNode
from kwire.text.properties import parse_properties

RELEASES = ("3.9", "4.3")
"""Those whose directories kwire writes as StorageTool does. 4.4 puts the levels elsewhere."""


def try_format(node: KafkaNode, version: str) -> bool:
    """Format the directories of a node; return False if that is left to StorageTool.

    version: of Kafka, as 4.3.1. What kwire refuses is left to StorageTool as well: its words count.
    """
    release = ".".join(version.split(".")[:2])
    if release not in RELEASES:
        return False
    try:
        format_directories(node, release)
    except (KwireError, OSError):
        return False
    return True


def format_directories(node: KafkaNode, release: str) -> None:
    """Write the directories for a release, as 3.9. Raises KwireError if kwire refuses to."""
    properties = storage_properties(parse_properties(node.server_properties()))
    options = _options(node, properties.release or release)
    write(plan(properties, options), datetime.now(UTC))


def _options(node: KafkaNode, release: str) -> FormatOptions:
    flags = node.first_voters()
    voters = parse_initial_voters(flags[1]) if "--initial-controllers" in flags else ()
    return FormatOptions(
        cluster_id=node.quorum.cluster_id,
        standalone="--standalone" in flags,
        initial_controllers=voters,
        no_initial_controllers="--no-initial-controllers" in flags,
        release_version=release,
        ignore_formatted=True,
    )
