"""The processes of one cluster's nodes, each in a process group of its own.

A terminal's Ctrl-C therefore reaches only their owner, which ends them; should it die first, the
guard does.
"""

import os
import signal
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess

from kwire.net.address import Address
from kwire.testing.local_kafka.address import free_port
from kwire.testing.local_kafka.errors import NodeFailed, RealKafkaError, ToolFailed
from kwire.testing.local_kafka.formatting import try_format
from kwire.testing.local_kafka.guard import Guard
from kwire.testing.local_kafka.node import BROKER, CONTROLLER, TOOL_JVM, KafkaNode, NodeListener

FORMAT_TIMEOUT = 120.0


class LocalSite:
    """A temporary folder with one folder for each node.

    version: of Kafka. jars, tools: the class paths of nodes and of tools; node_options,
    tool_options: further options of Java for them. logging: returns those for the logging of a
    node, by its folder. guard: closed with the site.
    """

    def __init__(
        self,
        binary: Path,
        version: str,
        jars: Iterable[Path],
        tools: Iterable[Path],
        *,
        node_options: Sequence[str] = (),
        tool_options: Sequence[str] = (),
        logging: Callable[[str], list[str]] | None = None,
        guard: Guard | None = None,
    ) -> None:
        self.java = str(binary)
        self.version = version
        self.node_options = node_options
        self.tool_options = tool_options
        self.logging = logging or (lambda folder: [])
        self.jars = os.pathsep.join(map(str, jars))
        self.tools = os.pathsep.join(map(str, tools))
        self._guard = guard or Guard()
        self._folder = Path(tempfile.mkdtemp(prefix="kwire-kafka-"))
        self._guard.keep("folder", str(self._folder))
        self.name = str(self._folder)
        self._machines: dict[int, LocalMachine] = {}
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closed = False
        self._changing = threading.Lock()

    def machine(self, node_id: int) -> "LocalMachine":
        """The folder and the processes of one node."""
        if node_id not in self._machines:
            folder = self._folder / f"node-{node_id}"
            folder.mkdir()
            self._machines[node_id] = LocalMachine(self, folder)
        return self._machines[node_id]

    def listeners(self, node_id: int, roles: tuple[str, ...]) -> tuple[NodeListener, ...]:
        """One listener a role, on 127.0.0.1."""
        names = {"broker": BROKER, "controller": CONTROLLER}
        ports = {names[role]: Address("127.0.0.1", free_port()) for role in roles}
        return tuple(
            NodeListener(name=name, listens=address, advertised=address, reached=address)
            for name, address in ports.items()
        )

    def spawn(self, arguments: list[str], folder: Path, log: Path) -> subprocess.Popen[bytes]:
        """Start a Java process that ends with this site at the latest."""
        with self._changing, log.open("ab") as output:
            if self._closed:
                raise RealKafkaError("The cluster is closed: start a new one.")
            process = self._guard.start(arguments, folder=folder, output=output)
            self._running.add(process)
        return process

    def ended(self, process: subprocess.Popen[bytes]) -> None:
        """Note that a process of ``spawn`` was waited for: its number may be reused from now."""
        self._guard.drop("group", str(process.pid))
        self._running.discard(process)

    def close(self) -> None:
        """Kill every process and remove the folder."""
        with self._changing:
            self._closed = True
        for process in list(self._running):
            process.kill()
        for process in list(self._running):
            process.wait()
            self.ended(process)
        self._guard.close()


class LocalMachine:
    """One node's folder: server.properties, node.log, data/."""

    def __init__(self, site: LocalSite, folder: Path) -> None:
        self._site = site
        self._folder = folder
        self._log = folder / "node.log"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def folder(self) -> str:
        """The folder of the node's files."""
        return str(self._folder)

    def start(self, node: KafkaNode) -> None:
        """Format the data folder the first time, then run the node."""
        (self._folder / "server.properties").write_text(node.server_properties())
        options = [*self._site.node_options, *self._site.logging(self.folder)]
        java = [self._site.java, *options, *node.jvm_arguments(), "-cp", self._site.jars]
        is_new = not (self._folder / "data" / "meta.properties").exists()
        if is_new and not try_format(node, self._site.version):
            self._format(java, node)
        self._process = self._site.spawn([*java, *node.run_arguments()], self._folder, self._log)

    def run(self, options: Iterable[str], arguments: Iterable[str]) -> None:
        """Run a class of Java that is no Kafka node, such as ZooKeeper, in place of a node."""
        java = [self._site.java, *self._site.node_options, *options]
        self.run_program([*java, "-cp", self._site.jars, *arguments])

    def run_program(self, command: list[str]) -> None:
        """Run any program in place of a node."""
        self._process = self._site.spawn(command, self._folder, self._log)

    def _format(self, java: list[str], node: KafkaNode) -> None:
        command = [*java, *node.format_arguments()]
        self._process = self._site.spawn(command, self._folder, self._log)
        if self._finish(FORMAT_TIMEOUT) != 0:
            raise NodeFailed(f"Node {node.node_id} could not be formatted.", self.log(2000))

    def _finish(self, timeout: float) -> int:
        """Wait for the process, kill it if need be, and return its exit code."""
        if self._process is None:
            return 0
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._site.ended(self._process)
        return self._process.returncode

    def kill(self) -> None:
        """kill -9."""
        if self._process and self._process.poll() is None:
            self._process.kill()
        self._finish(timeout=30)

    def stop(self, timeout: float) -> None:
        """SIGTERM, and kill -9 when ``timeout`` is over."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        self._finish(timeout)

    def suspend(self) -> None:
        """SIGSTOP; return when every thread stands still."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGSTOP)
            # A thread that runs on another core may answer a request that comes after the signal.
            if hasattr(os, "waitid"):
                os.waitid(os.P_PID, self._process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def resume(self) -> None:
        """SIGCONT."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)

    def exit_code(self) -> int | None:
        """None while the node runs."""
        return self._process.poll() if self._process else 0

    def log(self, lines: int) -> str:
        """The last lines of node.log."""
        if not self._log.exists():
            return ""
        with self._log.open(errors="replace") as log:
            return "".join(deque(log, maxlen=lines))

    def read(self, name: str) -> str:
        """A file of the node's folder."""
        return (self._folder / name).read_text()

    def tool(self, arguments: list[str], timeout: float) -> CompletedProcess[str]:
        """Run a Java class in the node's folder."""
        site = self._site
        options = site.tool_options
        return run_tool(site.java, site.tools, arguments, timeout, self._folder, options=options)


def run_tool(
    binary: str,
    jars: str,
    arguments: list[str],
    timeout: float,
    folder: Path | None = None,
    *,
    options: Sequence[str] = (),
) -> CompletedProcess[str]:
    """Run one of Kafka's tools to its end; the caller judges its exit code.

    options: further ones of Java.

    Raises ToolFailed when it takes longer than ``timeout`` seconds.
    """
    command = [binary, *TOOL_JVM, *options, "-cp", jars, *arguments]
    with subprocess.Popen(
        command, cwd=folder, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, text=True, process_group=0
    ) as tool:
        try:
            out, err = tool.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as late:
            tool.kill()
            raise ToolFailed(f"{arguments[0]} did not end within {timeout:.0f} s.") from late
        except BaseException:
            tool.kill()
            raise
    return CompletedProcess(command, tool.returncode, out, err)
