"""The evidence for commands that ask every node by itself: doctor, quorum check and upgrade."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kwire.cli.cluster_options import ClusterOptions
from kwire.cli.errors import WrongUsage
from kwire.cli.event_loop import run

if TYPE_CHECKING:
    from kwire.doctor.evidence import Evidence
    from kwire.net.address import Address


def bootstrap_addresses(cluster: ClusterOptions) -> Sequence[Address]:
    """Return the addresses of the options, brokers or controllers. Raises WrongUsage."""
    from kwire.admin.bootstrap import Bootstrap
    from kwire.errors import InvalidValue

    try:
        return Bootstrap.of(cluster.server, cluster.controller).addresses
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error


def gather_evidence(
    cluster: ClusterOptions, *, with_image: bool = True, all_brokers: bool = False
) -> Evidence:
    """Ask every node, and read the metadata log if it is wanted. Raises WrongUsage."""
    from kwire.doctor.gather import gather

    return run(
        gather(
            bootstrap_addresses(cluster),
            security=cluster.security,
            with_image=with_image,
            all_brokers=all_brokers,
            timeouts=cluster.timeouts,
        )
    )
