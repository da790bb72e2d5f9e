"""Events of the service as values, for a supervisor's log or a person at a terminal.

The service itself prints nothing. `kwire.cli` prints these events or logs them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from kwire.proxy.flows.flow import Notice

if TYPE_CHECKING:
    from kwire.proxy.serve.audit import RoutedChange


class ServiceEventKind(Enum):
    """The kinds of events; the service and its clusters say when each happens."""

    LISTENING = auto()
    FEEDING = auto()
    SIMULATING = auto()
    RIGHTS_LENT = auto()
    READY = auto()
    ADDRESS_NOT_KEPT = auto()
    CERTIFICATE_INVALID = auto()
    MESSAGE_HELD = auto()
    RULE_REPLACED = auto()
    RULE_COMMANDED = auto()
    FILTERS_LOADED = auto()
    FILTERS_NOT_LOADED = auto()
    FILTERS_FOR_NEW_CONNECTIONS = auto()
    RECORDED = auto()
    RECORDED_IN_PART = auto()
    RECORDING_STOPPED = auto()
    RECORDING_LOSSY = auto()
    RECORDING_RECOVERED = auto()
    SPANS_LOST = auto()
    SPANS_SENT = auto()
    CONFIG_LOADED = auto()
    CONFIG_NOT_LOADED = auto()
    CONFIG_NEEDS_RESTART = auto()
    RELOAD_UNAVAILABLE = auto()
    DRAINING = auto()
    STOPPED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceEvent:
    """A change in the state of the service.

    text: a sentence. reason: lines that follow it, if any. cluster: empty if the event is no
    cluster's, or if there is only one, without a name. node: the id of the node behind a listener.
    """

    kind: ServiceEventKind
    text: str
    reason: str = ""
    cluster: str = ""
    node: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNotice:
    """A notice of a connection to a cluster, as it happens."""

    cluster: str
    notice: Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterChange:
    """A change of a cluster that the proxy routed for a client: an audit line."""

    cluster: str
    change: RoutedChange


AnyEvent = ServiceEvent | ClusterNotice | ClusterChange
"""An event that the service reports."""

ReportEvent = Callable[[AnyEvent], None]
"""Takes the events. Those of recordings come from the threads that write."""
