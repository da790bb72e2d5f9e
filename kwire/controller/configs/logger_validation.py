"""Log levels of a node (Java: RuntimeLoggerManager, KIP-412): kwire's loggers are not Kafka's."""

from __future__ import annotations

import re

from kwire.controller.configs.values import refused
from kwire.controller.errors import ApiError
from kwire.error_codes import ErrorCode
from kwire.messages.a44_incremental_alter_configs import AlterConfigsResource

OPERATIONS = {2: "APPEND", 3: "SUBTRACT"}


def check(resource: AlterConfigsResource, node_id: int) -> None:
    """Check changes of log levels. Raises ApiError:

    1. Another name than this node's id: INVALID_REQUEST.
    2. Lists, which levels are not, or an unknown operation: INVALID_REQUEST.
    3. A logger of Kafka's: INVALID_CONFIG, since there is none here.
    """
    # 1.
    name = resource.resource_name
    if not re.fullmatch("[+-]?[0-9]{1,10}", name):
        raise _invalid(f"Node id must be an integer, but it is: {name}")
    if int(name) != node_id:
        raise _invalid(f"Unexpected node id. Expected {node_id}, but received {int(name)}")
    for config in resource.configs:
        # 3.
        if config.config_operation in (0, 1):
            raise refused(f"Logger {config.name} does not exist!")
        # 2.
        operation = OPERATIONS.get(config.config_operation, "Unknown")
        raise _invalid(f"{operation} operation is not allowed for the BROKER_LOGGER resource")


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
