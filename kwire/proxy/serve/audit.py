"""Audit lines of the changes that the proxy routed to a controller."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kwire.codec.declaration import Group, Request, Response
from kwire.messages.registry import api_name
from kwire.net.service import RequestContext
from kwire.proxy.flows.masks import is_secret
from kwire.proxy.flows.text import MASKED, printable, value_text
from kwire.proxy.flows.walk import failures
from kwire.proxy.serve.callers import Caller

LINE = 2000
"""Most characters of a request's fields in one audit line; further fields are in further lines."""

LINES = 50
"""Most lines of one request."""

OUTCOME = 400
"""Most characters of an outcome."""

_PLAIN_PRINCIPAL = re.compile(r"\w+:[^\s:\"']+")

NOT_KNOWN = "not known: the connection ended before the answer came"
NO_ANSWER = "refused: the error has no place in the response, and the connection was closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedChange:
    """The audit line of one change: client, request and outcome; safe to print, without secrets.

    client: address and port. principal: of the client; None where only its node knows it. lent: the
    controller judged the proxy's own principal instead. resources: the fields of the request, in
    parts of up to LINE characters. node: that it was routed to, empty if that is not known.
    """

    client: str
    principal: str | None
    lent: bool
    api: str
    resources: tuple[str, ...]
    outcome: str = NOT_KNOWN
    node: str = ""

    @property
    def sentences(self) -> Iterator[str]:
        """The lines as text, one for each part of the resources."""
        who = self.principal or "a principal that only the node knows"
        lent = ", with the proxy's rights" if self.lent else ""
        at = f" at {self.node}" if self.node else ""
        for number, part in enumerate(self.resources, 1):
            of = f" ({number} of {len(self.resources)})" if len(self.resources) > 1 else ""
            yield f"{who} at {self.client}{lent}: {self.api}{at}{of}: {part}: {self.outcome}"


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
        principal=None if principal is None else _principal_text(principal),
        lent=lent,
        api=f"{api_name(type(request).key or 0)} v{context.version}",
        resources=_parts(request),
    )


def outcome_text(response: Response) -> str:
    """Return `done`, or the errors of a response with what the node said about them.

    Of a response with several items it also says how many were done: the others may be there to
    draw attention from them.
    """
    errors = {
        f"{failure.name} ({failure.message})" if failure.message else failure.name
        for failure in failures(response)
    }
    if not errors:
        return "done"
    codes = list(_item_codes(response))
    done = codes.count(0)
    counts = f"{done} done, {len(codes) - done} refused: " if codes else ""
    return counts + printable(", ".join(sorted(errors)), OUTCOME)


def _item_codes(group: Group) -> Iterator[int]:
    """Yield the error code of every item that has one, at whatever depth."""
    for name in type(group).fields:
        value = getattr(group, name)
        for item in value if isinstance(value, list) else ():
            if isinstance(code := getattr(item, "error_code", None), int):
                yield code
            if isinstance(item, Group):
                yield from _item_codes(item)


def _principal_text(principal: str) -> str:
    """Return a principal, in quotes if its name could be taken for more of the line."""
    text = printable(principal)
    return text if _PLAIN_PRINCIPAL.fullmatch(text) else value_text(principal)


def _parts(request: Request) -> tuple[str, ...]:
    """Return the fields of a request in parts of up to LINE characters."""
    parts = [""]
    for field in _fields(request, ""):
        if len(parts[-1]) + len(field) > LINE and parts[-1]:
            if len(parts) == LINES:
                return (*parts, "the rest is not written: the request has too many fields")
            parts.append("")
        parts[-1] += f"{' ' if parts[-1] else ''}{field}"
    return tuple(parts)


def _fields(group: Group, path: str) -> Iterator[str]:
    """Yield the fields as `path=value`: all of the request itself, and of what is in it those that
    are no defaults, and ids."""
    for name, field in type(group).fields.items():
        value = getattr(group, name)
        if isinstance(value, Group):
            yield from _fields(value, f"{path}{name}.")
        elif isinstance(value, list) and value and isinstance(value[0], Group):
            for index, element in enumerate(value):
                yield from _fields(element, f"{path}{name}[{index}].")
        elif not path or name.endswith("id") or value != field.new_default():
            text = MASKED if is_secret(group, name) else value_text(value, name)
            yield f"{path}{name}={text}"
