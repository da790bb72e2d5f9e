"""Writes the proxy's addresses over the nodes', in a message or in records of the metadata log."""

from __future__ import annotations

from collections.abc import Callable

from kwire.codec.declaration import Message
from kwire.messages.data.voters_record import VotersRecord
from kwire.net.address import Address
from kwire.proxy.addresses.address_book import AddressBook
from kwire.proxy.addresses.log_records import read_log
from kwire.proxy.filters.filter import Call
from kwire.proxy.flows.node_addresses import NodeAddress, node_addresses


class AddressRewriter:
    """Replaces addresses by those of an address book.

    If a node has no listener yet, the methods wait until the book has opened one.
    """

    def __init__(self, book: AddressBook) -> None:
        self._book = book

    async def message(self, message: Message, call: Call, node_id: int | None = None) -> bool:
        """Rewrite every address in a message; return True if one has changed.

        node_id: the node of those addresses that the message gives no node for.
        """
        changed = False
        for node_address in node_addresses(message):
            before = node_address.address
            await self._rewrite(node_address, call, node_id)
            changed |= node_address.address != before
        return changed

    async def log(self, data: bytes, call: Call, reader: int | None) -> tuple[list[bytes], int]:
        """Rewrite whole batches of the metadata log; return them and the position behind them.

        reader: the node that the log is sent to. Raises BatchError if the bytes are no batches.
        """
        batches, end = read_log(data)
        for batch in batches:
            for message in batch.messages:
                for node_address in node_addresses(message):
                    # A voter compares its own entry of the VotersRecord with its listeners, and
                    # sends UpdateRaftVoter while they differ (KIP-853): each voter of a 4.3.1
                    # quorum did so every two seconds. So it gets its real address.
                    if isinstance(message, VotersRecord) and node_address.node_id == reader:
                        node_address.change(self._book.node_address(node_address.address))
                    else:
                        await self._rewrite(node_address, call)
        return [batch.encode() for batch in batches], end

    async def _rewrite(
        self, node_address: NodeAddress, call: Call, node_id: int | None = None
    ) -> None:
        address = self._book.proxy_address(node_address.address)
        if address is None:
            address = await self._open(node_address, call, node_id)
        if address is not None:
            node_address.change(address)

    async def _open(
        self, node_address: NodeAddress, call: Call, node_id: int | None
    ) -> Address | None:
        """Wait for a listener in front of a node; return its address, None if there is none."""
        node = node_id if node_address.node_id is None else node_address.node_id

        def begin(resume: Callable[[Address | None], None]) -> None:
            self._book.request_listener(node, node_address.address, resume)

        address: Address | None = await call.until(begin)
        of_node = "" if node is None else f" of node {node}"
        if address is None:
            call.note(
                f"the address {node_address.address}{of_node} stays: no listener could be opened"
                " for it"
            )
        else:
            call.note(f"listening at {address} in front of {node_address.address}{of_node}")
        return address
