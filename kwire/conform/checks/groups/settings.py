"""Numbers of a group's configuration, which its members are told (KIP-848, KIP-1071)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from kwire.conform.checks.controllers.requests import describe_config
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.conform.whole_answer import POSITIVE, one_of
from kwire.messages.config_resource import ResourceType


async def group_setting(server: Server, group: str, name: str) -> Any:
    """Return the number that a group's configuration has, any above 0 where it tells none."""
    values = []
    with suppress(Skipped):
        answer = await server.ask(describe_config(ResourceType.GROUP, group))
        values = [
            int(config.value)
            for result in answer.results
            for config in result.configs
            if config.name == name and config.value
        ]
    return one_of(*values) if values else POSITIVE
