"""Supervision of the methods of filters: reports their faults, and notes what they changed.

A method may raise anything, return or await a wrong value, or block: that is its own error. The
connection, the proxy and the filters behind it go on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kwire.proxy.filters.chain import FilterHandler, Filters
from kwire.proxy.filters.filter import Misuse
from kwire.proxy.flows.decoded_frame import DecodedFrame
from kwire.proxy.flows.flow import ClientConnection, Flow, NoticeKind
from kwire.proxy.flows.masks import without_secret

SLOW = 0.1
"""Seconds from which on a method that did not await is reported: all connections waited for it."""

Notify = Callable[[NoticeKind, str, float], None]
"""Sends a notice of this kind and text about the connection, at this time (Unix seconds)."""


@dataclass(slots=True, eq=False)
class Supervision:
    """The faults and the changes of the methods that see one message.

    flow: None where a client connects. clock: of the steady clock, in seconds. whole: the message.
    ran: the methods so far; broken: True once one of them has failed.
    """

    filters: Filters
    connection: ClientConnection
    notify: Notify
    flow: Flow | None
    clock: Callable[[], float]
    ran: list[FilterHandler]
    decoded: DecodedFrame | None = None
    broken: bool = False
    _changed: bool = False
    _known: bytes | None = None

    def begin_handler(self, handler: FilterHandler) -> None:
        """Note that a method is to run."""
        # Filters that mark their changes themselves (RewriteEndpoints does) must not be told of
        # again as "changed by a filter": where the kind of filter alternates, look at the bytes.
        before = self.ran[-1].filter.marks_changes if self.ran else handler.filter.marks_changes
        if handler.filter.marks_changes is not before:
            self.record_changes(marked=before)
        self.ran.append(handler)

    def record_changes(self, *, marked: bool) -> None:
        """Compare the message with its last known bytes. marked: changed by methods that mark."""
        if self.decoded is None:
            return
        try:
            if not marked:
                self._changed = self._differs
            self._known = self.decoded.body.encode(self.decoded.version)
        except Exception:  # what cannot be encoded is reported when the frame is made
            self._changed = True

    @property
    def changed(self) -> bool:
        """True if methods that do not mark their changes have changed the message.

        Raises what encoding raises.
        """
        marked = bool(self.ran) and self.ran[-1].filter.marks_changes
        return self._changed if marked else self._differs

    @property
    def _differs(self) -> bool:
        """True if the message has changed since it came, or since its bytes were last known."""
        if self._changed or self.decoded is None:
            return self._changed
        if self._known is None:
            return self.decoded.encode() is not self.decoded.frame
        return self.decoded.body.encode(self.decoded.version) != self._known

    def for_inner(self, decoded: DecodedFrame) -> Supervision:
        """Return the supervision of the message in this one, an Envelope."""
        return Supervision(
            self.filters, self.connection, self.notify, self.flow, self.clock, [], decoded
        )

    def merge_inner(self, inner: Supervision) -> None:
        """Note that the changes to the message inside have been put into the Envelope."""
        self.broken |= inner.broken
        if any(handler.filter.marks_changes for handler in inner.ran):
            self._changed |= inner.changed
            self.record_changes(marked=True)
        self.ran += inner.ran

    def report_failure(self, handler: FilterHandler, error: BaseException) -> None:
        """Report that a method raised or misbehaved: on the flow, the first time as a notice."""
        self.broken = True
        text = _error_text(error)
        if self.flow is not None:
            self.flow.problems.append(f"{handler.name} failed: {text}")
        if self.filters.is_first_report(handler.name, error):
            self._notify(
                NoticeKind.FILTER_FAILED,
                f"{handler.name} failed, {self._fate}: {text}; reported once",
            )

    def report_unsendable(
        self, error: Exception, what: str, handler: FilterHandler | None = None
    ) -> None:
        """Report a message that cannot be encoded. what: the fault; handler: whose, if known."""
        handlers = self.ran if handler is None else [handler]
        names = [handler.name for handler in handlers]
        name = names[0] if len(names) == 1 else f"one of {', '.join(dict.fromkeys(names))}"
        self.broken = True
        reason = without_secret(error)
        text = f"{name} left {what} that cannot be encoded, {self._fate}"
        if self.flow is not None:
            self.flow.problems.append(f"{text}: {reason}")
        if self.filters.is_first_report(name, error):
            self._notify(NoticeKind.FILTER_FAILED, f"{text}: {reason}; reported once")

    def report_duration(self, handler: FilterHandler, seconds: float) -> None:
        """Report a method that ran so long without awaiting that other connections waited."""
        if seconds >= SLOW and self.filters.is_new_slowest(handler.name, seconds):
            text = f"{handler.name} took {seconds:.3g} s, and every connection waited for it"
            self._notify(
                NoticeKind.FILTER_SLOW, f"{text}; reported again when it takes twice as long"
            )

    @property
    def _fate(self) -> str:
        """The fate of a message, or of a client, that a filter failed on, in words."""
        if self.flow is None:
            return "the client is refused" if self.filters.drop_on_error else "the client is let in"
        dropped = self.filters.drop_on_error
        return "the message is dropped" if dropped else "the message is sent on as it came"

    def _notify(self, kind: NoticeKind, text: str) -> None:
        flow = self.flow
        api = "" if flow is None else f"{flow.api} v{flow.version}: "
        at = self.connection.at if flow is None else flow.at
        self.notify(kind, f"{api}{text}", at)


def _error_text(error: BaseException) -> str:
    return str(error) if isinstance(error, Misuse) else f"{type(error).__name__}: {error}"
