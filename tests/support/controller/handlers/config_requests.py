"""Requests about configurations."""

from __future__ import annotations

from typing import Any

from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)


def alter(
    lab: Any,
    type: int,
    name: str,
    *configs: tuple[str, int, str | None],
    forwarded: bool = False,
    **more: Any,
) -> int:
    keys = [
        AlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in configs
    ]
    resource = AlterConfigsResource(resource_type=type, resource_name=name, configs=keys)
    request = IncrementalAlterConfigsRequest(resources=[resource]).replace(**more)
    (result,) = lab.ask(request, forwarded=forwarded).responses
    code: int = result.error_code
    return code
