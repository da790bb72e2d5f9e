"""Writes the proxy's addresses over the nodes', in a message or in records of the metadata log."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kwire.batches import Budget
from kwire.codec.declaration import Message, Request
from kwire.messages.data.voters_record import VotersRecord
from kwire.net.address import Address
from kwire.proxy.addresses.address_book import AddressBook, MessageAddress
from kwire.proxy.addresses.log_records import read_log
from kwire.proxy.filters.filter import Call
from kwire.proxy.flows.flow import Flow, Notice, NoticeKind
from kwire.proxy.flows.node_addresses import NodeAddress, node_addresses
from kwire.proxy.flows.text import printable

REFUSALS = 100
"""Refused addresses in one request after which no other is looked at: each costs time."""

HOST_SHOWN = 100
"""Characters of a host in a message that are shown; names have 255 at most."""


TOO_MUCH = "addresses in the metadata log stay as they are: its batches unpack to too much"


class AddressRewriter:
    """Replaces addresses by those of an address book.

    If a node has no listener yet, the methods wait until the book has opened one, or refused.
    """

    def __init__(self, book: AddressBook) -> None:
        self._book = book

    async def message(self, message: Message, call: Call, node_id: int | None = None) -> bool:
        """Rewrite every address in a message; return True if one has changed.

        node_id: the node of those addresses that the message gives no node for.
        """
        changed = False
        refusals = _Refusals()
        for node_address in node_addresses(message):
            before = node_address.address
            named = MessageAddress(
                address=before,
                node_id=node_id if node_address.node_id is None else node_address.node_id,
                by_node=not isinstance(message, Request),
                flow=_flow(call),
                listener_name=node_address.listener_name,
                role=node_address.field.role,
            )
            await self._rewrite(node_address, named, call, refusals)
            changed |= node_address.address != before
        self._report(refusals, call)
        return changed

    async def log(
        self, data: bytes, call: Call, reader: int | None, budget: Budget
    ) -> tuple[list[bytes], int]:
        """Rewrite whole batches of the metadata log; return them and the position behind them.

        Batches over the budget stay as they are. reader: the node that the log is sent to.
        Raises BatchError if the bytes are no batches.
        """
        batches, end = read_log(data, budget)
        if any(batch.too_large for batch in batches) and TOO_MUCH not in call.flow.notes:
            call.note(TOO_MUCH)
        refusals = _Refusals()
        for batch in batches:
            for message in batch.messages:
                for node_address in node_addresses(message):
                    address, node = node_address.address, node_address.node_id
                    # A voter compares its own entry of the VotersRecord with its listeners, and
                    # sends UpdateRaftVoter while they differ (KIP-853): each voter of a 4.3.1
                    # quorum did so every two seconds. So it gets its real address.
                    if isinstance(message, VotersRecord) and node == reader:
                        node_address.change(self._book.node_address(address))
                    else:
                        named = MessageAddress(
                            address=address,
                            node_id=node,
                            by_node=True,
                            flow=_flow(call),
                            listener_name=node_address.listener_name,
                            role=node_address.field.role,
                        )
                        await self._rewrite(node_address, named, call, refusals)
        self._report(refusals, call)
        return [batch.encode() for batch in batches], end

    def accepted(self, addresses: Iterable[NodeAddress]) -> None:
        """Believe the addresses in a request, as it was sent on: a node has accepted it."""
        for node_address in addresses:
            self._book.accepted(node_address.address)

    async def _rewrite(
        self, node_address: NodeAddress, named: MessageAddress, call: Call, refusals: _Refusals
    ) -> None:
        known = self._book.look_up(named)
        if known is not None:
            node_address.change(known)
            return
        if named.by_node and not named.flow.connection.paired:
            refusals.add(named, "the client has mixed up which answer is to which request")
            return
        if refusals.count >= REFUSALS and not named.by_node:
            refusals.add(named, f"{REFUSALS} other addresses in this request were refused")
            return

        def begin(resume: Callable[[Address | str], None]) -> None:
            self._book.request_listener(named, resume)

        address = await call.until(begin)
        if isinstance(address, str):
            refusals.add(named, address)
            return
        node_address.change(address)
        call.note(f"listening at {address} in front of {_shown(named)}")

    def _report(self, refusals: _Refusals, call: Call) -> None:
        """Note on the flow which addresses stay, and send notices of them."""
        flow = call.flow
        for text in refusals.sentences():
            call.note(text)
            kind = NoticeKind.ADDRESS_REFUSED
            self._book.tell(Notice(connection=flow.connection, at=flow.at, kind=kind, text=text))


class _Refusals:
    """The addresses of one message that stay as they are: one sentence for each reason."""

    def __init__(self) -> None:
        self._by_reason: dict[str, list[MessageAddress]] = {}
        self.count = 0

    def add(self, named: MessageAddress, reason: str) -> None:
        self._by_reason.setdefault(reason, []).append(named)
        self.count += 1

    def sentences(self) -> list[str]:
        return [_sentence(addresses, reason) for reason, addresses in self._by_reason.items()]


def _sentence(addresses: list[MessageAddress], reason: str) -> str:
    more = f", and {len(addresses) - 1} more in this message," if len(addresses) > 1 else ""
    stay = "stay" if more else "stays"
    first = _shown(addresses[0])
    return f"the address {first}{more} in {addresses[0].flow.api} {stay} as it is: {reason}"


def _shown(named: MessageAddress) -> str:
    """Return an address and its node in words; a host in a message may be any text."""
    address = Address(printable(named.address.host, HOST_SHOWN), named.address.port)
    return f"{address}" if named.node_id is None else f"{address} of node {named.node_id}"


def _flow(call: Call) -> Flow:
    """Return the flow that ends with the RPC: of a message in an Envelope, the Envelope's."""
    return call.flow if call.envelope is None else call.envelope.call.flow
