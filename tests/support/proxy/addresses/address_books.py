"""Address books for tests: the proxy listens in front of whatever node is asked for."""

from kwire.net.address import Address
from kwire.proxy.addresses import AddressBook
from kwire.proxy.addresses.address_book import OnListener


class InstantListeners:
    """Listeners that are there at once; sought: the node ids and addresses asked for, in order."""

    def __init__(self) -> None:
        self.book = AddressBook()
        self.sought: list[tuple[int | None, Address]] = []
        self.book.open_with(self._open)

    def _open(self, node_id: int | None, address: Address, found: OnListener) -> None:
        self.sought.append((node_id, address))
        found(self.book.add(address, Address("proxy.example.org", 20_000 + len(self.sought))))
