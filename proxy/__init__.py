"""Stand in the middle: Kafka's traffic passes untouched and is seen, RPC by RPC.

A Proxy has a Listener in front of each node. Its relays move bytes, framers follow the frames in
them, and each RPC comes out as a Flow; a Tap decodes flows beside the traffic into Exchanges.
"""

from kwire.address import Address
from proxy.chain import Filters
from proxy.copies import Copies
from proxy.decoded import DecodedFlow
from proxy.filter import Action, Answer, Call, Close, Delay, Drop, Filter, Stall, at
from proxy.flow import Connection, Ending, Event, Flow, Kind, Notice, Sink
from proxy.interest import Direction, Interest, Wants, pass_everything, tap_everything
from proxy.listener import Limits, Listener
from proxy.ring import Ring
from proxy.server import CannotListen, Proxy
from proxy.summary import summarize
from proxy.tap import Tap, Viewer
from proxy.tree import Tree, flow_trees

__all__ = [
    "Action",
    "Address",
    "Answer",
    "Call",
    "CannotListen",
    "Close",
    "Connection",
    "Copies",
    "DecodedFlow",
    "Delay",
    "Direction",
    "Drop",
    "Ending",
    "Event",
    "Filter",
    "Filters",
    "Flow",
    "Interest",
    "Kind",
    "Limits",
    "Listener",
    "Notice",
    "Proxy",
    "Ring",
    "Sink",
    "Stall",
    "Tap",
    "Tree",
    "Viewer",
    "Wants",
    "at",
    "flow_trees",
    "pass_everything",
    "summarize",
    "tap_everything",
]
