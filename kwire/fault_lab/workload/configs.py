"""Configurations: clients set a pair of keys of one resource to unique values, and read it.

Both keys are set in one request, so that a reader who sees two different values has seen half a
change. The resource is of client metrics (KIP-714), which needs no broker; its keys are numbers.
"""

from __future__ import annotations

from functools import partial

from kwire.fault_lab.history import Fate
from kwire.fault_lab.session import WorkloadClient, judged
from kwire.fault_lab.workload.pace import wait_turn
from kwire.fault_lab.workload.shared_name import SharedName
from kwire.messages.a32_describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)

CLIENT_METRICS = 16
KEYS = ("interval.ms", "match")
DEFAULT = 5
"""The source of a value that nobody has set."""

FIRST = 100
"""The least value of interval.ms; the greatest is an hour."""


async def work_on_configs(client: WorkloadClient, config: SharedName) -> None:
    """Set and read until the run stops."""
    while not client.run.stopping:
        config.renew_if_due()
        client.choose()
        name, key = config.name, config.key
        if client.random.random() < 0.6:
            value = FIRST + client.run.unique()
            work = partial(set_pair, client, name, value)
            operation = await client.record(key, "set", work, value)
        else:
            # A controller answers from the image that it has published, which lags behind.
            work = partial(read_pair, client, name)
            operation = await client.record(key, "read", work, stale=True)
        config.note(operation)
        await wait_turn(client, 0.08)


async def set_pair(client: WorkloadClient, name: str, value: int) -> tuple[Fate, object]:
    """Set both keys, in one request."""
    values = (str(value), f"client_id=c{value}")
    configs = [
        AlterableConfig(name=key, config_operation=0, value=text)
        for key, text in zip(KEYS, values, strict=True)
    ]
    result = await alter_pair(client, name, configs)
    return judged(result.error_code, result.error_message, frozenset())


async def alter_pair(
    client: WorkloadClient, name: str, configs: list[AlterableConfig]
) -> AlterConfigsResourceResponse:
    """Change a resource of client metrics; return the result for it."""
    resource = AlterConfigsResource(
        resource_type=CLIENT_METRICS, resource_name=name, configs=configs
    )
    answer = await client.ask(
        IncrementalAlterConfigsResponse, IncrementalAlterConfigsRequest(resources=[resource])
    )
    (result,) = answer.responses
    return result


async def read_pair(client: WorkloadClient, name: str) -> tuple[Fate, object]:
    """Read both keys; the result is the value, None where there is none, or both if they differ."""
    resource = DescribeConfigsResource(
        resource_type=CLIENT_METRICS, resource_name=name, configuration_keys=None
    )
    answer = await client.ask(DescribeConfigsResponse, DescribeConfigsRequest(resources=[resource]))
    (result,) = answer.results
    set_here = [config for config in result.configs if config.config_source != DEFAULT]
    values = {config.name: config.value for config in set_here}
    fate, _ = judged(result.error_code, result.error_message, frozenset())
    return fate, pair_of(values.get(KEYS[0]), values.get(KEYS[1]))


def pair_of(interval: str | None, match: str | None) -> object:
    """Return the value that both keys have, None for none; else a text with both."""
    number = (match or "").removeprefix("client_id=c") or None
    if number == interval:
        return None if interval is None else int(interval)
    return f"{interval} and {match}"
