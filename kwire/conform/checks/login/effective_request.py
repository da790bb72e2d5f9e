"""A request that changes something of a check's own if it is carried out, and how that is seen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from kwire.codec.declaration import Request
from kwire.conform.expectation import first_error
from kwire.conform.reaction import error_text
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.error_codes import ErrorCode

_HIDDEN = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
        ErrorCode.SECURITY_DISABLED,
        ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED,
        ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED,
    }
)
"""Codes that hide from the user whether a request was carried out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveRequest:
    """A request, and how to see that it was carried out.

    happened: returns True if it was. version: None for the highest that both have. undo: removes
    what only the answer names.
    """

    request: Request
    happened: Callable[[], Awaitable[bool]]
    version: int | None = None
    undo: Callable[[Any], Awaitable[None]] | None = None


Prepare = Callable[[Server], Awaitable[EffectiveRequest]]
"""Creates what a request needs, has it removed afterwards, and returns it. Raises Skipped."""


def visible_error(answer: Any) -> int:
    """Return the first error code of an answer. Raises Skipped for one that hides the result."""
    code = first_error(answer)
    if code in _HIDDEN:
        raise Skipped(f"the user of the credentials gets {error_text(code)}")
    return code
