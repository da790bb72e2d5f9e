"""Proxy and filters: traffic to Kafka's nodes passes unchanged, is seen RPC by RPC, or is changed.

A Proxy has a Listener in front of each node. Its relays move bytes, framers follow the frames in
them, and each RPC comes out as a Flow; a Tap decodes flows beside the traffic into DecodedFlows.
"""

from kwire.net.address import Address
from kwire.proxy.data_path.copies import Copies
from kwire.proxy.data_path.listener import Limits, Listener
from kwire.proxy.data_path.server import CannotListen, Proxy
from kwire.proxy.data_path.tap import FlowViewer, Tap
from kwire.proxy.filters.chain import Filters
from kwire.proxy.filters.filter import Action, Answer, Call, Close, Delay, Drop, Filter, Stall, at
from kwire.proxy.flows.counted_flows import CountedFlows
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import ClientConnection, Event, Flow, Notice, NoticeKind, Outcome, Sink
from kwire.proxy.flows.interest import (
    Direction,
    Interest,
    Wants,
    count_everything,
    pass_everything,
    tap_everything,
)
from kwire.proxy.flows.ring import Ring
from kwire.proxy.flows.summary import summarize
from kwire.proxy.flows.tree import Tree, flow_trees

__all__ = [
    "Action",
    "Address",
    "Answer",
    "Call",
    "CannotListen",
    "ClientConnection",
    "Close",
    "Copies",
    "CountedFlows",
    "DecodedFlow",
    "Delay",
    "Direction",
    "Drop",
    "Event",
    "Filter",
    "Filters",
    "Flow",
    "FlowViewer",
    "Interest",
    "Limits",
    "Listener",
    "Notice",
    "NoticeKind",
    "Outcome",
    "Proxy",
    "Ring",
    "Sink",
    "Stall",
    "Tap",
    "Tree",
    "Wants",
    "at",
    "count_everything",
    "flow_trees",
    "pass_everything",
    "summarize",
    "tap_everything",
]
