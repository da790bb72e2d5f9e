"""`kwire demo`: a quorum, administered through kwire's proxy, every RPC decoded live."""

from __future__ import annotations

from kwire.cli.cluster_ports import BROKERS
from kwire.cli.demo.options import DemoOptions
from kwire.cli.options import reads_options


@reads_options
def demo(options: DemoOptions, brokers: int = BROKERS) -> None:
    """Watch four controllers change voters through a proxy.

    The controllers are kwire's own and need nothing else. They advertise the proxy, so that all
    their traffic passes it. Nothing is left behind, whether it ends by itself or by Ctrl-C.

    \b
    kwire demo
    kwire demo --keep --ports 9093
    kwire demo --keep --ports 9093 --brokers 1
    kwire demo -w demo.avro
    """
    from kwire.cli.demo.cluster import KwireQuorum
    from kwire.cli.demo.session import run

    run(options, lambda progress: KwireQuorum(brokers, progress))
