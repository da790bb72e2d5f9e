"""One node of a running cluster: its addresses, and the hands to start, stop and kill it."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from subprocess import CompletedProcess

from kwire.net.address import Address
from kwire.testing.local_kafka.address import answers, lists, serves
from kwire.testing.local_kafka.errors import NodeFailed
from kwire.testing.local_kafka.launcher import TOOL_TIMEOUT, Machine
from kwire.testing.local_kafka.maven import Progress
from kwire.testing.local_kafka.node import KafkaNode, KnownQuorum, NodeListener

DEADLINE = 300.0
"""Seconds a node may take to answer; 20 have been seen on two busy cores, 60 on a busy disk."""

POLL = 0.1


class RunningNode:
    """A node on its machine. It may be stopped or killed at times, and comes back with its data."""

    def __init__(self, node: KafkaNode, machine: Machine, progress: Progress) -> None:
        self._node = node
        self._machine = machine
        self._progress = progress

    def __repr__(self) -> str:
        return f"<{self.what} at {self.address}>"

    @property
    def node_id(self) -> int:
        """The node.id."""
        return self._node.node_id

    @property
    def roles(self) -> tuple[str, ...]:
        """Its process.roles."""
        return self._node.roles

    @property
    def what(self) -> str:
        """The node's name for people, such as ``controller 3001``."""
        role = self.roles[0] if len(self.roles) == 1 else "combined node"
        return f"{role} {self.node_id}"

    @property
    def folder(self) -> str:
        """Its folder as it sees it, with server.properties and data/."""
        return self._node.folder

    @property
    def server_properties(self) -> str:
        """The text of its properties file."""
        return self._node.server_properties()

    @property
    def quorum_bootstrap(self) -> str:
        """The controllers as this node reaches them: the address for a tool that runs beside it."""
        return self._node.quorum.bootstrap_servers

    @property
    def controller_address(self) -> Address:
        """The address of its controller listener for this host, whatever it advertises."""
        return _reached(listener for listener in self._node.listeners if listener.controller)

    @property
    def broker_address(self) -> Address:
        """The address of its broker listener for this host, whatever it advertises."""
        return _reached(listener for listener in self._node.listeners if not listener.controller)

    def listener_address(self, name: str) -> Address:
        """Return the address of a listener for this host, by its name."""
        return _reached(listener for listener in self._node.listeners if listener.name == name)

    @property
    def address(self) -> Address:
        """The node's address for this host; of a combined node that of its broker."""
        return self.broker_address if "broker" in self.roles else self.controller_address

    @property
    def quorum_address(self) -> Address:
        """The address of its controller listener that other nodes are given."""
        return next(listener.advertised for listener in self._node.listeners if listener.controller)

    @property
    def directory_id(self) -> str:
        """The directory.id of its data folder. Raises FileNotFoundError before it is formatted."""
        lines = self._machine.read("data/meta.properties").splitlines()
        values = dict(line.split("=", 1) for line in lines if "=" in line)
        return values["directory.id"]

    def advertise(self, address: Address) -> None:
        """Have the controller tell others another address, a proxy's, from its next start on.

        It is the one this host uses; among containers the nodes keep talking to each other
        directly.
        """
        last = [listener for listener in self._node.listeners if listener.controller][-1]
        self._node = replace(
            self._node,
            listeners=tuple(
                replace(listener, advertised=address) if listener is last else listener
                for listener in self._node.listeners
            ),
        )

    def configure(self, properties: Mapping[str, str]) -> None:
        """Give it more properties, which override all others, from its next start on."""
        more = {**self._node.properties, **properties}
        self._node = replace(self._node, properties=more)

    def join(self, quorum: KnownQuorum) -> None:
        """Tell the node, from its next start on, which quorum it belongs to."""
        self._node = replace(self._node, quorum=quorum)

    def start(self, deadline: float = DEADLINE) -> None:
        """Start it, formatted if it never was, and return when it answers.

        It need not let us in: a listener that wants TLS or a login answers before that.

        Raises NodeFailed, with the end of the node's log, when it dies or ``deadline`` (s) passes.
        """
        self._progress(f"starting {self.what}")
        self._machine.start(self._node)
        listeners = self._node.listeners
        name = next(listener.name for listener in listeners if listener.reached == self.address)
        tls = self._node.security_protocol(name).endswith("SSL")
        self._wait(lambda: answers(self.address, tls=tls), "answer", deadline)
        self._progress(f"{self.what} answers on {self.address}")

    def wait_until_served(self, deadline: float = DEADLINE) -> None:
        """Wait until a controller serves administrators, which takes a quorum with a leader.

        Raises NodeFailed as ``start`` does.
        """
        self._wait(lambda: serves(self.controller_address), "serve administrators", deadline)

    def wait_until_it_lists(self, brokers: int, deadline: float = DEADLINE) -> None:
        """Wait until a broker knows that many brokers that are not fenced, itself among them.

        Raises NodeFailed as ``start`` does.
        """
        self._wait(lambda: lists(self.broker_address, brokers), f"list {brokers} brokers", deadline)

    def _wait(self, condition: Callable[[], bool], what: str, deadline: float) -> None:
        until = time.monotonic() + deadline
        while not condition():
            if (code := self._machine.exit_code()) is not None:
                raise NodeFailed(f"{self.what} ended with {code} before it did {what}.", self.log())
            if time.monotonic() > until:
                raise NodeFailed(
                    f"{self.what} did not {what} on {self.address} in {deadline:.0f} s.", self.log()
                )
            time.sleep(POLL)

    def stop(self, timeout: float = 60) -> None:
        """SIGTERM: a controlled shutdown, cut short with kill -9 after ``timeout`` seconds."""
        self._machine.stop(timeout)

    def kill(self) -> None:
        """kill -9, as a power cut would."""
        self._machine.kill()

    def suspend(self) -> None:
        """SIGSTOP: it stands still until `resume`, and its connections stay open."""
        self._machine.suspend()

    def resume(self) -> None:
        """SIGCONT."""
        self._machine.resume()

    def restart(self, deadline: float = DEADLINE) -> None:
        """Stop it if it runs, and start it on the same data and the same ports."""
        self.stop()
        self.start(deadline)

    @property
    def alive(self) -> bool:
        """True while the process runs."""
        return self._machine.exit_code() is None

    def log(self, lines: int = 2000) -> str:
        """The last lines of its log."""
        return self._machine.log(lines)

    def tool(
        self, main_class: str, *arguments: str, timeout: float = TOOL_TIMEOUT
    ) -> CompletedProcess[str]:
        """Run a Java class beside the node, so that ``server.properties`` names its own file."""
        return self._machine.tool([main_class, *arguments], timeout)


def _reached(listeners: Iterable[NodeListener]) -> Address:
    return next(listener.reached for listener in listeners if listener.reached)
