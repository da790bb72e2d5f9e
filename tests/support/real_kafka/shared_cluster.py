"""A check that a test left a shared cluster as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kwire.admin.list_groups import listed_groups
from kwire.admin.sync import AdminClient
from kwire.image import MetadataImage
from kwire.shell.files import DirectorySource
from real_kafka import Cluster
from tests.support.eventually import eventually_blocking

State = frozenset[str]
"""A line for each thing that a test may leave behind or take away."""

PATIENCE = 60.0
"""Seconds in which what a test has taken back may still be on its way."""


@contextmanager
def left_as_it_was(cluster: Cluster, *, groups: bool) -> Iterator[None]:
    """Fail if topics, configurations, quotas, rights, users, tokens or nodes are others afterwards.

    groups: compare groups, too; the cluster lets anybody ask for them.
    """
    if cluster.launcher != "local":  # the log of containers is out of reach
        yield
        return
    before = state(cluster, groups=groups)
    yield

    def changed() -> list[str]:
        after = state(cluster, groups=groups)
        gone, new = sorted(before - after), sorted(after - before)
        return [*(f"taken away: {line}" for line in gone), *(f"left: {line}" for line in new)]

    eventually_blocking(changed, lambda lines: not lines, timeout=PATIENCE)


def state(cluster: Cluster, *, groups: bool) -> State:
    """Return what is there now: by the log of the controller that has most of it."""
    folders = [Path(node.folder, "data") for node in cluster.controllers.values()]
    latest = max(
        (DirectorySource(folder).latest() for folder in folders),
        key=lambda position: -1 if position.offset is None else position.offset,
    )
    lines = set(_lines(latest.image))
    if groups:
        with AdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
            lines |= {f"group {group.group_id}" for group in listed_groups(admin.list_groups())}
    return frozenset(lines)


def _lines(image: MetadataImage) -> Iterator[str]:
    for part in (
        image.features,
        image.client_quotas,
        image.acls,
        image.scram,
        image.delegation_tokens,
    ):
        yield from (str(record.record) for record in part.records())
    # Topics of Kafka's own come with the first group, transaction or share group.
    for name, id in image.topics.ids.items():
        if not name.startswith("__"):
            yield f"topic {name}, partitions {len(image.topics.by_known_id(id).numbers())}"
    for resource, values in image.configs.resources.items():
        if not resource.name.startswith("__"):
            yield f"configuration of {resource}: {sorted(values.items())}"
    for broker in image.cluster.brokers.values():
        is_out = broker.fenced or broker.in_controlled_shutdown
        yield f"broker {broker.id}{', fenced or shutting down' if is_out else ''}"
    yield from (f"controller {node_id}" for node_id in image.cluster.controllers)
