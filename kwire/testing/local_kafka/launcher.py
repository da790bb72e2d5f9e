"""The protocols of places for nodes: a site for those of one cluster, a machine for each node."""

from subprocess import CompletedProcess
from typing import Protocol

from kwire.testing.local_kafka.node import KafkaNode, NodeListener

TOOL_TIMEOUT = 120.0
"""Seconds one of Kafka's tools may take; they give up after 60 themselves and then say why."""


class Machine(Protocol):
    """The place where one node runs. Its files outlive the node's stops, kills and restarts."""

    @property
    def folder(self) -> str:
        """The folder of the node's files, in the node's own view."""

    def start(self, node: KafkaNode) -> None:
        """Write the properties, format the folders that are not formatted yet, and run the node.

        Raises NodeFailed when formatting fails. Returns before the node answers.
        """

    def kill(self) -> None:
        """End the node at once, as kill -9 or a power cut would."""

    def stop(self, timeout: float) -> None:
        """Ask the node to shut down (SIGTERM); kill it when ``timeout`` seconds are over."""

    def suspend(self) -> None:
        """Suspend the node, as SIGSTOP does, until `resume`."""

    def resume(self) -> None:
        """Let a suspended node go on; do nothing if it is not suspended."""

    def exit_code(self) -> int | None:
        """Return the exit code, None while the node runs."""

    def log(self, lines: int) -> str:
        """Return the last lines of the node's log, those of formatting included."""

    def read(self, name: str) -> str:
        """Return a text file from the node's folder. Raises FileNotFoundError."""

    def tool(self, arguments: list[str], timeout: float) -> CompletedProcess[str]:
        """Run a Java class of Kafka's beside the node: its addresses, its files, its folder."""


class Site(Protocol):
    """The place of one cluster's nodes: a folder of processes, or a network of containers."""

    @property
    def name(self) -> str:
        """The folder of its processes, or the network of its containers."""

    def machine(self, node_id: int) -> Machine:
        """Return the machine of a node; the first call makes it."""

    def listeners(self, node_id: int, roles: tuple[str, ...]) -> tuple[NodeListener, ...]:
        """Return a node's listeners, with ports reserved; those for this host come last."""

    def close(self) -> None:
        """End every node and remove every trace. Nothing can be started here afterwards."""
