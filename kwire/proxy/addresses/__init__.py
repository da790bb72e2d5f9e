"""The proxy's addresses in place of the nodes', so that clients and nodes stay on the proxy.

`flows.node_addresses` finds the addresses in a message, `log_records` those in batches of the
metadata log. An AddressBook has the pairs of a node's address and the proxy's; NewListeners adds to
it while traffic flows. `rewrite_endpoints` is the filter that puts them together; `bypass` gives
notices where nothing is rewritten. `config_lines` is the other way: nodes that advertise the proxy
themselves.
"""

from kwire.proxy.addresses.address_book import AddressBook
from kwire.proxy.addresses.new_listeners import NewListeners

__all__ = ["AddressBook", "NewListeners"]
