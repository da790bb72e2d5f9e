"""Keeps what kafka-python (3.0.12) leaves behind out of tests that have nothing to do with it.

It leaves a socket to the garbage collector if the connection is refused, or is still being opened
when its client is closed. Any later test may run when that is found, and fails of the warning.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

NETWORK = "kafka.net.inet"
"""The module that opens kafka-python's sockets."""


class SelfClosingSocket(socket.socket):
    """A socket that is closed without a word when nobody has it any more."""

    def __del__(self) -> None:
        self.close()


class NetworkFinder(MetaPathFinder):
    """Finds the module that opens sockets, and changes it once it is loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != NETWORK:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        load = spec.loader.exec_module

        def load_and_change(module: ModuleType) -> None:
            load(module)
            _change(module)

        spec.loader.exec_module = load_and_change  # type: ignore[method-assign]
        return spec


def close_forgotten_sockets() -> None:
    """Have kafka-python open its connections with sockets that close themselves.

    It is not imported for that: few tests need it.
    """
    if NETWORK in sys.modules:
        _change(sys.modules[NETWORK])
    else:
        sys.meta_path.insert(0, NetworkFinder())


def _change(network: ModuleType) -> None:
    network.KafkaNetSocket.socket = _open


def _open(
    _: object, family: int = socket.AF_UNSPEC, kind: int = socket.SOCK_STREAM, protocol: int = 0
) -> SelfClosingSocket:
    return SelfClosingSocket(family, kind, protocol)
