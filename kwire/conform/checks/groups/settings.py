"""Numbers of configuration that answers tell, such as a group's (KIP-848, KIP-1071)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from kwire.conform.checks.controllers.requests import describe_config
from kwire.conform.expectation import expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.conform.whole_answer import POSITIVE, one_of
from kwire.error_codes import ErrorCode
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.config_resource import ResourceType

_SET, _DELETE = 0, 1


async def configured(server: Server, kind: ResourceType, resource: str, name: str) -> list[int]:
    """Return the numbers that a configuration has under a name, also for single listeners."""
    with suppress(Skipped):
        answer = await server.ask(describe_config(kind, resource))
        return [
            int(config.value)
            for result in answer.results
            for config in result.configs
            if config.name.endswith(name) and config.value
        ]
    return []


async def group_setting(server: Server, group: str, name: str) -> Any:
    """Return the number that a group's configuration has, any above 0 where it tells none."""
    values = await configured(server, ResourceType.GROUP, group, name)
    return one_of(*values) if values else POSITIVE


async def configure_group(server: Server, group: str, name: str, value: str) -> None:
    """Give a group's configuration a value, which is taken back when the check is over."""

    async def alter(operation: int) -> None:
        config = AlterableConfig(name=name, config_operation=operation, value=value)
        resource = AlterConfigsResource(
            resource_type=ResourceType.GROUP, resource_name=group, configs=[config]
        )
        request = IncrementalAlterConfigsRequest(resources=[resource])
        expect_error(await server.ask(request), ErrorCode.NONE)

    await alter(_SET)
    server.remove_afterwards(f"{name} of {group}", lambda: alter(_DELETE))
