"""Opens the proxy's own connections to nodes, with the security of its configuration."""

from __future__ import annotations

from collections.abc import Callable

from kwire.errors import ConnectionFailed
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.secure_connect import SecureConnect


class NodeConnector:
    """Connects to nodes as the proxy.

    read: reads security and limits of time from their files, at the start and by `renew`. refusal:
    returns why the proxy must not connect to an address, "" if it may: the metadata log names
    leaders and brokers, and whoever is there gets what the proxy authenticates with. Raises BadTls,
    InvalidValue.
    """

    def __init__(
        self, read: Callable[[], SecureConnect], refusal: Callable[[Address], str]
    ) -> None:
        self._read = read
        self._refusal = refusal
        self._connect = read()

    @property
    def with_sasl(self) -> bool:
        """True if connections authenticate by SASL, so that nodes want it of clients as well."""
        return self._connect.security.sasl is not None

    async def __call__(self, address: Address, within: float | None = None) -> Connection:
        """Open a connection within so many seconds.

        Raises what `Connection.open` raises, and ConnectionFailed for an address not allowed.
        """
        if reason := self._refusal(address):
            raise ConnectionFailed(f"the proxy does not connect to a node at {address}: {reason}")
        return await self._connect(address, within)

    def renew(self) -> Callable[[], None]:
        """Read the files again for later connections; return a function that undoes it."""
        before = self._connect
        self._connect = self._read()

        def undo() -> None:
            self._connect = before

        return undo
