"""The evidence for commands that ask every node by itself: doctor, quorum check and upgrade."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from kwire.cli.cluster_options import ClusterOptions
from kwire.cli.errors import usage_errors
from kwire.cli.event_loop import run

if TYPE_CHECKING:
    from kwire.doctor.evidence import Evidence
    from kwire.net.address import Address


def bootstrap_addresses(cluster: ClusterOptions) -> Sequence[Address]:
    """Return the addresses of the options, brokers or controllers. Raises WrongUsage."""
    from kwire.admin.bootstrap import Bootstrap

    with usage_errors():
        return Bootstrap.of(cluster.server, cluster.controller).addresses


def gather_evidence(
    cluster: ClusterOptions, *, with_image: bool = True, all_brokers: bool = False
) -> Evidence:
    """Ask every node, and read the metadata log if it is wanted. Raises WrongUsage."""
    from kwire.doctor.gather import gather

    return _gather_with_notice(cluster, gather, with_image=with_image, all_brokers=all_brokers)


def gather_evidence_briefly(cluster: ClusterOptions, node_id: int | None) -> Evidence:
    """Ask as few nodes as a probe needs. Raises WrongUsage."""
    from kwire.doctor.gather import gather_briefly

    return _gather_with_notice(cluster, gather_briefly, node_id=node_id)


def _gather_with_notice(
    cluster: ClusterOptions, gather: Callable[..., Awaitable[Evidence]], **choices: object
) -> Evidence:
    """Gather, and tell on stderr who is slow to answer."""
    from kwire.cli.waiting_notice import nodes_notice
    from kwire.net.awaited import Awaited

    addresses, security = bootstrap_addresses(cluster), cluster.security
    awaited = Awaited()

    async def gather_and_tell() -> Evidence:
        async with nodes_notice(awaited, cluster.timeouts.operation):
            return await gather(
                addresses, security=security, timeouts=cluster.timeouts, awaited=awaited, **choices
            )

    return run(gather_and_tell())
