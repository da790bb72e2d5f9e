"""Names that completion asks a cluster for: within 300 ms, else there are none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from kwire.admin.registry import Reach
from kwire.cli.cluster_options import ClientSettings, ClusterChoice, ClusterOptions

if TYPE_CHECKING:
    from kwire.admin import AdminClient

PATIENCE = 0.3
"""Seconds for the cluster to answer."""


def cluster_names(kind: str, options: Mapping[str, str]) -> list[str]:
    """Return the topics or groups of the cluster that a command line names, none if it is silent.

    options: their values by flag. Raises WrongUsage for a profile or a file that is wrong.
    """
    config = options.get("--command-config")
    choice = ClusterChoice(
        bootstrap_server=options.get("--bootstrap-server"),
        bootstrap_controller=options.get("--bootstrap-controller"),
        settings=ClientSettings(
            command_config=None if config is None else Path(config).expanduser(),
            profile=options.get("--profile"),
        ),
    )
    return _within_patience(kind, choice.chosen(Reach.OBSERVED, unlisted=True))


def _within_patience(kind: str, cluster: ClusterOptions) -> list[str]:
    """Ask in a thread: the name of a host may take longer than any limit of the client."""
    client = cluster.open()
    _prepare()
    found: list[str] = []

    def ask() -> None:
        found.extend(asyncio.run(_asked(kind, client)))

    thread = Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return found


def _prepare() -> None:
    """Import and compile what the asking needs, so that it takes no time of the cluster's."""
    from kwire.admin import list_groups, topics  # noqa: F401  # imported when first called
    from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse
    from kwire.messages.a16_list_groups import ListGroupsRequest, ListGroupsResponse
    from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse

    for request in (MetadataRequest, ListGroupsRequest, ApiVersionsRequest):
        request.encoder(request.versions.last)
    for response in (MetadataResponse, ListGroupsResponse, ApiVersionsResponse):
        response.decoder(response.versions.last)


async def _asked(kind: str, client: AdminClient) -> list[str]:
    async with client as admin:
        if kind == "topic":
            return [topic.name for topic in await admin.list_topics(timeout=PATIENCE)]
        listed = await admin.list_groups(timeout=PATIENCE)
        return sorted({group.group_id for groups in listed.values() for group in groups})
