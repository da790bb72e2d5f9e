"""Audit lines of the changes that the proxy routed to a controller."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kwire.codec.declaration import Group, Request, Response
from kwire.messages.registry import api_name
from kwire.net.service import RequestContext
from kwire.proxy.flows.masks import is_secret
from kwire.proxy.flows.text import MASKED, printable, value_text
from kwire.proxy.flows.walk import failures
from kwire.proxy.serve.callers import Caller

RESOURCES = 1000
"""Most characters of a request's fields in an audit line."""

OUTCOME = 400
"""Most characters of an outcome."""

NOT_KNOWN = "not known: the connection ended before the answer came"
NO_ANSWER = "refused: the error has no place in the response, and the connection was closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedChange:
    """The audit line of one change: client, request and outcome; safe to print, without secrets.

    client: address and port. principal: of the client; None where only its node knows it. lent: the
    controller judged the proxy's own principal instead. resources: the fields of the request. node:
    that it was routed to, empty if that is not known.
    """

    client: str
    principal: str | None
    lent: bool
    api: str
    resources: str
    outcome: str = NOT_KNOWN
    node: str = ""

    @property
    def sentence(self) -> str:
        """The line as text."""
        who = self.principal or "a principal that only the node knows"
        lent = ", with the proxy's rights" if self.lent else ""
        at = f" at {self.node}" if self.node else ""
        return f"{who} at {self.client}{lent}: {self.api}{at}: {self.resources}: {self.outcome}"


Audit = Callable[[RoutedChange], None]
"""Takes the audit lines, each when its request has ended."""


def routed_change(
    request: Request, context: RequestContext, caller: Caller, *, lent: bool
) -> RoutedChange:
    """Return the line of a request whose outcome is not known yet."""
    host, port = context.peer
    principal = caller.principal
    return RoutedChange(
        client=f"{host}:{port}",
        principal=None if principal is None else printable(principal),
        lent=lent,
        api=f"{api_name(type(request).key or 0)} v{context.version}",
        resources=_fields_text(request),
    )


def outcome_text(response: Response) -> str:
    """Return `done`, or the errors of a response with what the node said about them."""
    errors = {
        f"{failure.name} ({failure.message})" if failure.message else failure.name
        for failure in failures(response)
    }
    return printable(", ".join(sorted(errors)), OUTCOME) if errors else "done"


def _fields_text(request: Request) -> str:
    """Return the fields that are no defaults, up to RESOURCES characters."""
    parts: list[str] = []
    room = RESOURCES
    for part in _fields(request, ""):
        parts.append(part)
        room -= len(part) + 1
        if room < 0:
            return f"{' '.join(parts)[:RESOURCES]}…"
    return " ".join(parts) or "nothing"


def _fields(group: Group, path: str) -> Iterator[str]:
    for name, field in type(group).fields.items():
        value = getattr(group, name)
        if isinstance(value, Group):
            yield from _fields(value, f"{path}{name}.")
        elif isinstance(value, list):
            for index, element in enumerate(value):
                yield from _fields(element, f"{path}{name}[{index}].")
        elif value != field.new_default():
            text = MASKED if is_secret(group, name) else value_text(value, name)
            yield f"{path}{name}={text}"
