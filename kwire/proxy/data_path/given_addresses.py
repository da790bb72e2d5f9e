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
from typing import Annotated

from pydantic import BeforeValidator, InstanceOf

from kwire.errors import LocalError
from kwire.net.address import Address
from kwire.operating_system import flush_folder
from kwire.permissions import changeable_by_others, open_private
from kwire.proxy.data_path.listener import Listener
from kwire.proxy.data_path.server import CannotListen, Proxy
from kwire.text.untrusted import read_text
from kwire.text.yaml_file import BadFile, Strict, read_yaml

MOST = 2000
"""Most addresses that are kept; beyond, those go first that no node has named."""

NAME_LENGTH = 255
"""Characters of the longest name of a listener that is kept."""

_HEAD = "# Addresses that `kwire proxy` has given out: it listens there when it starts again.\n"


class CannotKeep(LocalError):
    """The file of given addresses cannot be written."""


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


_At = Annotated[InstanceOf[Address], BeforeValidator(lambda value: Address.parse(str(value)))]


class _AddressLine(Strict):
    given: _At
    upstream: _At
    node: int | None = None
    listener: str = ""
    believed: bool = True


class _AddressFile(Strict):
    addresses: tuple[_AddressLine, ...] = ()


class GivenAddresses:
    """Keeps the addresses in a file, and chooses the ports of new ones.

    path: None to keep them in memory only. ports: those of listeners that nobody configured, chosen
    by the node's id; empty to let the system choose.
    """

    def __init__(self, path: Path | None = None, ports: range = range(0)) -> None:
        self.path = path
        self.ports = ports
        self._by_address: dict[Address, GivenAddress] = {}
        self._saving = asyncio.Lock()
        self._unsaved = True

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
        if address.given not in self._by_address and len(self._by_address) >= MOST:
            known = self._by_address.values()
            del self._by_address[min(known, key=lambda one: one.believed).given]
        if self._by_address.get(address.given) != address:
            self._by_address[address.given] = address
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
    """Replace a file: whatever happens meanwhile, it is the one before or the new one."""
    name, path = path, path.resolve()  # a symbolic link stays one
    fresh = path.with_name(f".{path.name}.new")
    try:
        with open_private(fresh) as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
        flush_folder(path.parent)
    except OSError as error:
        raise CannotKeep(f"{name} cannot be written: {error.strerror or error}") from error
