"""`kwire proxy` as a process, and a node with fixed answers behind it."""

import itertools
import re
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from subprocess import PIPE

from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.net.frames import encode_request, encode_response
from tests.support.cli.command import KWIRE

PATIENCE = 60.0

ASKED = encode_request(ApiVersionsRequest(client_software_name="x"), 4, correlation_id=1)

UNKNOWN = bytes.fromhex("0000000c 270f 0003 00000002 ffff beef".replace(" ", ""))

ANSWER = encode_response(ApiVersionsResponse(), 4, correlation_id=1)

STRANGE = bytes.fromhex("00000006 00000002 cafe".replace(" ", ""))


@contextmanager
def fixed_answers_node() -> Iterator[str]:
    """Run a node that answers the two requests above; yield its address."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        stopping = threading.Event()
        serving = threading.Thread(target=_serve, args=(server, stopping))
        serving.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        stopping.set()
        serving.join()


def _serve(server: socket.socket, stopping: threading.Event) -> None:
    while not stopping.is_set():
        try:
            peer, _ = server.accept()
        except TimeoutError:
            continue
        with peer, suppress(OSError):
            for request, answer in ((ASKED, ANSWER), (UNKNOWN, STRANGE)):
                peer.settimeout(PATIENCE)
                if peer.recv(len(request), socket.MSG_WAITALL) != request:
                    break  # a stranger's: some node that still looks for one that had this port
                peer.sendall(answer)


@contextmanager
def proxy(
    *arguments: str, listeners: int = 1
) -> Iterator[tuple[subprocess.Popen[str], tuple[str, int]]]:
    """The command as a process, once it listens at so many addresses, and the first of them."""
    with subprocess.Popen([KWIRE, "proxy", *arguments], stdout=PIPE, stderr=PIPE, text=True) as run:
        try:
            stderr = run.stderr
            assert stderr
            lines = (re.match(r"listening at (.+):(\d+) in front of", line) for line in stderr)
            first, *_ = itertools.islice((found for found in lines if found), listeners)
            yield run, (first[1], int(first[2]))
        finally:
            if run.poll() is None:
                run.kill()


def talk(address: tuple[str, int]) -> None:
    """One conversation through the proxy; every byte arrives as it was sent."""
    with socket.create_connection(address, timeout=PATIENCE) as client:
        for request, answer in ((ASKED, ANSWER), (UNKNOWN, STRANGE)):
            client.sendall(request)
            assert client.recv(len(answer), socket.MSG_WAITALL) == answer


def end_with_ctrl_c(run: subprocess.Popen[str]) -> tuple[list[str], str]:
    """End a proxy by Ctrl-C; return what it printed: lines of stdout, and stderr."""
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 130, err
    assert "Traceback" not in err
    return out.splitlines(), err
