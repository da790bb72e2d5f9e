"""Address books for tests: the proxy listens in front of whatever node is asked for."""

from kwire.net.address import Address
from kwire.proxy import ClientConnection, Flow, Notice
from kwire.proxy.addresses import AddressBook
from kwire.proxy.addresses.address_book import MessageAddress, OnListener
from tests.support.proxy.dialogue import connection


class RequestedListeners:
    """Listeners that a test opens, or refuses. requests: what was asked for, in order."""

    def __init__(self, book: AddressBook) -> None:
        self.requests: list[tuple[MessageAddress, OnListener]] = []
        self.believed: list[Address] = []
        self.told: list[Notice] = []
        book.open_with(self)

    def request(self, named: MessageAddress, on_listener: OnListener) -> None:
        """Remember what is asked for."""
        self.requests.append((named, on_listener))

    def accepted(self, address: Address) -> None:
        """Remember what a node has accepted."""
        self.believed.append(address)

    def tell(self, notice: Notice) -> None:
        """Remember the notice."""
        self.told.append(notice)


class InstantListeners(RequestedListeners):
    """Listeners that are there at once; sought: the node ids and addresses asked for, in order."""

    def __init__(self) -> None:
        self.book = AddressBook()
        self.sought: list[tuple[int | None, Address]] = []
        super().__init__(self.book)

    def request(self, named: MessageAddress, on_listener: OnListener) -> None:
        """Open it."""
        super().request(named, on_listener)
        self.sought.append((named.node_id, named.address))
        port = 20_000 + len(self.sought)
        on_listener(self.book.add(named.address, Address("proxy.example.org", port)))


def message_address(
    node_id: int | None,
    address: Address,
    *,
    by_node: bool = True,
    flow: Flow | None = None,
    listener_name: str = "",
) -> MessageAddress:
    """An address in a message of some connection."""
    return MessageAddress(
        address=address,
        node_id=node_id,
        by_node=by_node,
        flow=flow or a_flow(),
        listener_name=listener_name,
    )


def a_flow(of: ClientConnection | None = None) -> Flow:
    """A flow that is not answered yet."""
    return Flow(of or connection(), 62, 4, 1, None, 0.0, 0.0, 0)
