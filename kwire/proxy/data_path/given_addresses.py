"""The addresses of the proxy's that others were given for nodes, kept for its next start.

Such an address outlives the proxy: it stands in registrations and voter sets of the metadata log,
in nodes' copies of that log, and in the metadata that clients remember. So each is in a file before
anybody is given it, and the next run of the proxy listens there again.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, InstanceOf

from kwire.errors import LocalError
from kwire.net.address import Address, address_key
from kwire.operating_system import BINARY, hold_file
from kwire.permissions import PRIVATE, changeable_by_others, replace_private
from kwire.proxy.data_path.listener import Listener
from kwire.proxy.data_path.server import CannotListen, Proxy
from kwire.text.untrusted import cut_repr, read_text
from kwire.text.yaml_file import BadFile, Strict, read_yaml

MOST = 2000
"""Most addresses that are kept; beyond, those go first that no node has named."""

NAME_LENGTH = 255
"""Characters of the longest name of a listener that is kept."""

_HEAD = "# Addresses that `kwire proxy` has given out: it listens there when it starts again.\n"


class CannotKeep(LocalError):
    """The file of given addresses cannot be written, or another proxy does."""


class BadAddressFile(BadFile):
    """The file of given addresses cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenAddress:
    """An address of the proxy's in front of a node.

    listener_name: of the node's listener; "" as long as no message has named it. believed: False if
    only a request of a client has named the node so far.
    """

    given: Address
    upstream: Address
    node_id: int | None = None
    listener_name: str = ""
    believed: bool = True


def _address(value: Any) -> Any:
    if isinstance(value, Address):
        return value
    if not isinstance(value, str):
        raise ValueError(f"{cut_repr(value)} is no address: write host:port")
    return Address.parse(value)


def _with_port(address: Address) -> Address:
    if not address.port:
        raise ValueError(f"{address} is no port that anybody can connect to: give another one")
    return address


At = Annotated[InstanceOf[Address], BeforeValidator(_address)]
"""An address in a file."""

ConnectTo = Annotated[At, AfterValidator(_with_port)]
"""An address in a file that somebody connects to."""

NodeId = Annotated[int, Field(ge=0, lt=1 << 31)]
"""Kafka's node.id."""


class _AddressLine(Strict):
    given: ConnectTo
    upstream: ConnectTo
    node: NodeId | None = None
    listener: str = ""
    believed: bool = True


def _lead_to_nodes(lines: tuple[_AddressLine, ...]) -> tuple[_AddressLine, ...]:
    """Return the lines. Raises ValueError if an address is given twice, or leads to itself."""
    upstreams: dict[Address, Address] = {}
    for number, line in enumerate(lines, 1):
        given = address_key(line.given)
        if given in upstreams:
            raise ValueError(f"[{number}] gives out {line.given} a second time: remove one of them")
        upstreams[given] = address_key(line.upstream)
    for number, line in enumerate(lines, 1):
        address, passed = address_key(line.given), set[Address]()
        while (upstream := upstreams.pop(address, None)) is not None:
            passed.add(address)
            if upstream in passed:
                raise ValueError(
                    f"[{number}] leads back to {upstream}, which the proxy itself gives out: an"
                    " upstream is the address of a node"
                )
            address = upstream
    return lines


class _AddressFile(Strict):
    addresses: Annotated[tuple[_AddressLine, ...], AfterValidator(_lead_to_nodes)] = ()


class GivenAddresses:
    """Keeps the addresses in a file, and chooses the ports of new ones.

    path: None to keep them in memory only. ports: those of listeners that nobody configured, chosen
    by the node's id; empty to let the system choose.
    """

    def __init__(self, path: Path | None = None, ports: range = range(0)) -> None:
        self.path = path
        self.ports = ports
        self._by_address: dict[Address, GivenAddress] = {}
        self._lock: int | None = None
        self._saving = asyncio.Lock()
        self._unsaved = True

    async def __aenter__(self) -> Self:
        """Take the file from other proxies and read it; also check that it can be written.

        Raises BadAddressFile, CannotKeep.
        """
        self._hold()
        try:
            self.read()
            await self.save()
        except BaseException:
            self._release()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        async with self._saving:  # what is being written is still this proxy's
            self._release()

    def __iter__(self) -> Iterator[GivenAddress]:
        return iter(tuple(self._by_address.values()))

    def read(self) -> None:
        """Read the file, if there is one. Raises BadAddressFile."""
        if self.path is None or not self.path.exists():
            return
        if not self.path.is_file():  # it is replaced: /dev/null must not be
            raise BadAddressFile(f"{self.path} is no regular file: name another one")
        if reason := changeable_by_others(self.path):
            raise BadAddressFile(f"the addresses are not taken: {reason}")
        try:
            lines = read_yaml(_AddressFile, read_text(self.path, BadAddressFile), BadAddressFile)
        except BadAddressFile as error:
            raise BadAddressFile(error.in_file(self.path)) from error
        for line in lines.addresses:
            self.add(
                GivenAddress(
                    given=line.given,
                    upstream=line.upstream,
                    node_id=line.node,
                    listener_name=line.listener,
                    believed=line.believed,
                )
            )

    def add(self, address: GivenAddress) -> None:
        """Add an address that is to be given, or replace what is known of it."""
        if len(address.listener_name) > NAME_LENGTH:
            address = replace(address, listener_name="")
        if address.node_id is not None and address.node_id < 0:  # of a message, not of a node
            address = replace(address, node_id=None)
        key, known = address_key(address.given), self._by_address
        if key not in known and len(known) >= MOST:
            del known[min(known, key=lambda one: known[one].believed)]
        if known.get(key) != address:
            known[key] = address
            self._unsaved = True

    async def save(self) -> None:
        """Return when the addresses are in the file. Raises CannotKeep."""
        if self.path is None:
            return
        async with self._saving:
            if self._unsaved:
                self._unsaved = False
                try:
                    # In a thread: a disk may be slow, and the traffic goes on.
                    await asyncio.to_thread(_write, self.path, self._text())
                except CannotKeep:
                    self._unsaved = True
                    raise

    def _hold(self) -> None:
        if self.path is None:
            return
        path = self.path.resolve()
        lock = path.with_name(f".{path.name}.lock")  # the file itself is replaced
        try:
            self._lock = os.open(lock, os.O_RDWR | os.O_CREAT | BINARY, PRIVATE)
        except OSError as error:
            raise _cannot_keep(self.path, error) from error
        if not hold_file(self._lock):
            self._release()
            raise CannotKeep(
                f"{self.path} is another running proxy's, which holds {lock}: give each proxy a"
                " file of its own"
            )

    def _release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    async def listen(
        self, proxy: Proxy, listener: Listener, former: Address | None
    ) -> tuple[Listener, Address]:
        """Listen in front of a node, at the port that it had before if that is free.

        Return the listener, and the address with its port. Raises CannotListen, BadTls.
        """
        failure = None
        for port in self._candidates(listener.node_id, former):
            there = replace(listener, listen=Address(listener.listen.host, port))
            try:
                return there, await proxy.listen(there)
            except CannotListen as error:  # somebody else has the port by now
                failure = error
        raise failure or CannotListen("all ports for nodes have been given out")

    def _candidates(self, node_id: int | None, former: Address | None) -> Iterator[int]:
        """Yield the ports to try: the one that the node had, then others; 0 for any."""
        if former is not None:
            yield former.port
        if not self.ports:
            yield 0
            return
        # By its id, so that a node gets the same port again even if the file was lost.
        first = (node_id or 0) % len(self.ports)
        taken = {address.given.port for address in self}
        for port in (*self.ports[first:], *self.ports[:first]):
            if port not in taken:
                yield port

    def _text(self) -> str:
        lines = [
            {
                "node": address.node_id,
                "listener": address.listener_name,
                "given": str(address.given),
                "upstream": str(address.upstream),
                "believed": address.believed,
            }
            for address in self
        ]
        rows = "".join(f"\n- {json.dumps(line)}" for line in lines)
        return f"{_HEAD}addresses:{rows or ' []'}\n"


def _write(path: Path, text: str) -> None:
    try:
        replace_private(path.resolve(), text.encode())  # a symbolic link stays one
    except OSError as error:
        raise _cannot_keep(path, error) from error


def _cannot_keep(path: Path, error: OSError) -> CannotKeep:
    return CannotKeep(f"{path} cannot be written: {error.strerror or error}")
