"""Events to be recorded, and their values for comparison."""

from dataclasses import fields
from typing import Any

import pytest

from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.proxy import Event, Flow
from tests.support.proxy.dialogue import Dialogue, asked

MICROSECOND = 1e-6


def plain(event: Event) -> dict[str, Any]:
    """The values of an event, times rounded to what is recorded."""
    values = {field.name: getattr(event, field.name) for field in fields(event)}
    one = values.pop("connection")
    values.pop("request_body", None)
    for name in ("at", "asked", "answered"):
        if values.get(name) is not None:
            values[name] = pytest.approx(values[name], abs=MICROSECOND)
    where = (one.number, one.node_id, one.client, one.upstream, one.client_id, one.peer)
    return values | {"connection": where}


def lost() -> Flow:
    """A request whose connection ended."""
    dialogue = Dialogue()
    dialogue.connection.number = 2
    dialogue.ask(asked(ApiVersionsRequest(), 3, 1, client_id=None))
    dialogue.hang_up()
    return dialogue.flows[0]
