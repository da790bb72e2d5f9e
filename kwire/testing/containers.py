"""A proxy in front of a Kafka of testcontainers, for clients in other containers as well.

with KafkaContainer() as kafka, container_proxy(kafka) as proxy:
    proxy.on("Produce").close().call(1)
    DockerContainer("my-application").with_env("SERVERS", proxy.bootstrap_servers).start()

If all clients run on this machine, `FaultProxy(kafka.get_bootstrap_server())` is enough.
"""

from __future__ import annotations

from typing import Any, Protocol

from kwire.errors import InvalidValue
from kwire.testing.fault_proxy import FaultProxy


class ContainerOfKafka(Protocol):
    """The part of testcontainers' KafkaContainer that is needed."""

    def get_bootstrap_server(self) -> str:
        """Return the address at which this machine reaches the broker."""

    def get_wrapped_container(self) -> Any:
        """Return the container as the Docker client has it."""


def container_proxy(kafka: ContainerOfKafka, network: str | None = None) -> FaultProxy:
    """Return a proxy at an address that containers and this machine reach: the network's gateway.

    network: of the clients, by default the container's. With Docker Desktop the gateway is not this
    machine: give FaultProxy `listen="0.0.0.0"` and `advertised_host="host.docker.internal"` there.
    Raises InvalidValue if the container is in no such network.
    """
    container = kafka.get_wrapped_container()
    container.reload()
    networks = container.attrs["NetworkSettings"]["Networks"]
    gateways = {name: net["Gateway"] for name, net in networks.items() if net["Gateway"]}
    if network is None:
        network = next(iter(gateways), None)
    if network not in gateways:
        raise InvalidValue(f"the container is in no network {network}: it is in {[*gateways]}")
    return FaultProxy(kafka.get_bootstrap_server(), listen=gateways[network])
