"""Addresses of nodes: choosing a free port, and asking whether Kafka answers on one."""

import functools
import os
import random
import socket
import ssl
import threading

from kwire.net.address import Address
from kwire.permissions import make_private_folder
from kwire.testing.local_kafka.jars import cache

RANGE = range(20_000, 30_000)
"""Below the ports of outgoing connections, so that none takes a stopped node's port."""

RESERVATIONS = cache() / "ports.lock"
"""A file in which every process locks one byte for each of its ports."""

_taken: set[int] = set()
_choosing = threading.Lock()


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on and that was not returned before.

    Other processes of this user do not get it from here while this one lives.
    """
    with _choosing:
        while True:
            port = random.choice(RANGE)
            if port not in _taken and _reserved(port) and _bindable(port):
                _taken.add(port)
                return port


@functools.cache
def _reservations() -> int:
    """Return the descriptor of the file. It stays open: closing it would release every lock."""
    make_private_folder(RESERVATIONS.parent)
    return os.open(RESERVATIONS, os.O_CREAT | os.O_RDWR, 0o600)


def _reserved(port: int) -> bool:
    import fcntl  # POSIX only; nothing here runs elsewhere

    try:
        fcntl.lockf(_reservations(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False
    return True


def _bindable(port: int) -> bool:
    with socket.socket() as trial:
        try:
            trial.bind(("0.0.0.0", port))
        except OSError:
            return False
    return True


def answers(address: Address, *, tls: bool = False) -> bool:
    """True if a Kafka node answers ApiVersions v0 at this address; no login is needed for that.

    An open port proves nothing: Docker's own proxy accepts connections before Kafka listens. The
    answer comes before the quorum has a leader, so whoever asks for more may have to ask again.

    tls: True for a listener of SSL or SASL_SSL. A handshake is the answer there, or its refusal:
    the certificate is not checked, and the node may want one of ours.
    """
    if tls:
        return _shakes_hands(address)
    return len(_ask(address, "0000000a 0012 0000 00000001 ffff", 8)) == 8


def serves(address: Address) -> bool:
    """True if a controller answers DescribeCluster v1 without an error (KIP-919).

    Until it has read the first metadata records, and so until there was a leader, it says
    UNSUPPORTED_VERSION.
    """
    answer = _ask(address, "0000000e 003c 0001 00000001 ffff 00 00 02 00", 15)
    return len(answer) == 15 and answer[13:] == bytes(2)


def lists(address: Address, brokers: int) -> bool:
    """True if Metadata v1 of a broker lists that many brokers; fenced ones are not listed.

    It answers before it is unfenced itself, and topics can only be created on brokers that are.
    """
    answer = _ask(address, "0000000e 0003 0001 00000001 ffff 00000000", 12)
    return len(answer) == 12 and int.from_bytes(answer[8:]) == brokers


def _ask(address: Address, request: str, length: int) -> bytes:
    """The first bytes of an answer; fewer than ``length``, or none, where there is no such one."""
    try:
        with socket.create_connection((address.host, address.port), timeout=1) as connection:
            connection.settimeout(2)
            connection.sendall(bytes.fromhex(request))
            return connection.recv(length, socket.MSG_WAITALL)
    except OSError:
        return b""


def _shakes_hands(address: Address) -> bool:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((address.host, address.port), timeout=1) as connection,
            context.wrap_socket(connection),
        ):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except OSError:
        return False
