"""Writes the proxy's addresses over the nodes', in a message or in records of the metadata log."""

from __future__ import annotations

from collections.abc import Callable

from kwire.codec.declaration import Message
from kwire.messages.data.voters_record import VotersRecord
from kwire.net.address import Address
from kwire.proxy.addresses.book import AddressBook
from kwire.proxy.addresses.log_records import read_log
from kwire.proxy.addresses.places import Place, places
from kwire.proxy.filters.filter import Call


class Rewriter:
    """Changes addresses by a book; for one that is not in it, whoever awaits this waits."""

    def __init__(self, book: AddressBook) -> None:
        self._book = book

    async def message(self, message: Message, call: Call, node_id: int | None = None) -> bool:
        """Rewrite every address in it; return True if one has changed.

        node_id: whose they are where it does not say so itself.
        """
        changed = False
        for place in places(message):
            before = place.address
            await self._proxied(place, call, node_id)
            changed |= place.address != before
        return changed

    async def log(self, data: bytes, call: Call, reader: int | None) -> tuple[list[bytes], int]:
        """The whole batches, those with addresses anew, and the position of what is behind them.

        reader: the node they are for. Its own address in a VotersRecord is the real one: a voter
        compares that with its listeners, and asks for another voter set while they differ.
        Raises BatchError for what can be no batch.
        """
        batches, end = read_log(data)
        for batch in batches:
            for message in batch.messages:
                for place in places(message):
                    if isinstance(message, VotersRecord) and place.node_id == reader:
                        place.change(self._book.real(place.address))
                    else:
                        await self._proxied(place, call)
        return [batch.encode() for batch in batches], end

    async def _proxied(self, place: Place, call: Call, node_id: int | None = None) -> None:
        known = self._book.proxied(place.address)
        if known is None:
            known = await self._new(place, call, node_id)
        if known is not None:
            place.change(known)

    async def _new(self, place: Place, call: Call, node_id: int | None) -> Address | None:
        node, address = node_id if place.node_id is None else place.node_id, place.address

        def begin(found: Callable[[Address | None], None]) -> None:
            self._book.seek(node, address, found)

        found: Address | None = await call.until(begin)
        whose = "" if node is None else f" of node {node}"
        if found is None:
            call.note(f"the address {address}{whose} stays: no listener could be opened for it")
        else:
            call.note(f"listening at {found} in front of {address}{whose}")
        return found
