"""Changes of the log levels of a node (Java: RuntimeLoggerManager, KIP-412)."""

from __future__ import annotations

from collections.abc import Container

from kwire.configs.values import java_int, refused
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a44_incremental_alter_configs import AlterableConfig, AlterConfigsResource

ROOT = "root"
LEVELS = ("DEBUG", "ERROR", "FATAL", "INFO", "TRACE", "WARN")
"""The levels that a logger can be given (Java: LogLevelConfig)."""

SET, DELETE = range(2)
_REFUSED = {2: "APPEND", 3: "SUBTRACT"}


def changed_levels(
    resource: AlterConfigsResource, node_id: int, loggers: Container[str]
) -> dict[str, str | None]:
    """Return the level that each logger gets; None for that of the logger above it.

    Of several changes of one logger the last counts. Raises ApiError:

    1. Another name than this node's id: INVALID_REQUEST.
    2. A list's operation, or an unknown one: INVALID_REQUEST.
    3. An unknown logger, or none of the LEVELS: INVALID_CONFIG.
    4. The level of the root is taken away: INVALID_REQUEST.
    """
    # 1.
    id = java_int(resource.resource_name)
    if id is None:
        raise _invalid(f"Node id must be an integer, but it is: {resource.resource_name}")
    if id != node_id:
        raise _invalid(f"Unexpected node id. Expected {node_id}, but received {id}")
    return {config.name: _level(config, loggers) for config in resource.configs}


def _level(config: AlterableConfig, loggers: Container[str]) -> str | None:
    # 2.
    if config.config_operation not in (SET, DELETE):
        operation = _REFUSED.get(config.config_operation, "Unknown")
        raise _invalid(f"{operation} operation is not allowed for the BROKER_LOGGER resource")
    # 3.
    if config.name not in loggers:
        raise refused(f"Logger {config.name} does not exist!")
    if config.config_operation == SET:
        if config.value not in LEVELS:
            raise refused(
                f"Cannot set the log level of {config.name} to {config.value} as it is not a"
                f" supported log level. Valid log levels are {', '.join(LEVELS)}"
            )
        return config.value
    # 4.
    if config.name == ROOT:
        raise _invalid(f"Removing the log level of the {ROOT} logger is not allowed")
    return None


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
