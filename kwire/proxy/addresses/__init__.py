"""Addresses in passing messages: nodes and clients that hear them stay on the proxy.

`table` names every field of every message that carries a node's address; `places` finds them in a
message, `log_records` in the batches of the metadata log. An AddressBook knows which address of
the proxy stands for which node's; NewListeners adds to it while traffic flows. The filter that
puts them together is `rewrite_endpoints`. `config_lines` is for the other way: nodes that advertise
the proxy themselves.
"""

from kwire.proxy.addresses.book import AddressBook
from kwire.proxy.addresses.new_listeners import NewListeners

__all__ = ["AddressBook", "NewListeners"]
