"""Logins to ZooKeeper by SASL: the refusals that kazoo does not notice."""

from __future__ import annotations

from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import AuthFailedError, SessionClosedRequireSaslError
from kazoo.protocol.serialization import SASL


def is_login_refused(error: BaseException | None) -> bool:
    """True for the refusal of a server that wants SASL of every session.

    kazoo ends its thread by it, where it has a state for the refusal of other servers.
    """
    return isinstance(error, SessionClosedRequireSaslError)


def end_logins_without_sasl(client: KazooClient) -> None:
    """Refuse the second empty token of a login.

    A server without SASL answers the first one by nothing, and kazoo would answer that without end.
    """
    connection = client._connection
    submit = connection._submit

    def submit_token(request: Any, timeout: float, xid: int | None = None) -> None:
        if isinstance(request, SASL) and not request.challenge and xid != 1:
            raise AuthFailedError
        submit(request, timeout, xid)

    connection._submit = submit_token
