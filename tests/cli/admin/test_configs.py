"""`kwire configs`: values with their sources, changes before and after, nothing secret shown."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.admin.configs import AlterConfigOperation, ConfigChange, ConfigEntry, ConfigSynonym
from kwire.cli.admin.config_changes import after
from kwire.messages import a32_describe_configs as described
from kwire.messages import a44_incremental_alter_configs as altered
from kwire.messages.config_resource import ConfigResource, ConfigSource, ResourceType
from kwire.net.frames import RequestFrame
from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.cli.command import Command
from tests.support.cli.scripted_cluster import at, scripted_cluster

TOPIC = ConfigResource(ResourceType.TOPIC, "orders")
SECRET = "kept-in-a-safe"

CONFIGS = {
    "retention.ms": described.DescribeConfigsResourceResult(
        name="retention.ms", value="5", config_source=1, config_type=5
    ),
    "segment.ms": described.DescribeConfigsResourceResult(
        name="segment.ms", value="7", config_source=5, config_type=5
    ),
    "ssl.key.password": described.DescribeConfigsResourceResult(
        name="ssl.key.password", value=None, config_source=2, is_sensitive=True, config_type=9
    ),
}


def describe(request: RequestFrame) -> described.DescribeConfigsResponse:
    assert isinstance(request.body, described.DescribeConfigsRequest)
    return described.DescribeConfigsResponse(
        results=[
            described.DescribeConfigsResult(
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
                configs=[
                    config
                    for name, config in CONFIGS.items()
                    if resource.configuration_keys is None or name in resource.configuration_keys
                ],
            )
            for resource in request.body.resources
        ]
    )


def alter(request: RequestFrame) -> altered.IncrementalAlterConfigsResponse:
    """Refuse any resource named `strict`."""
    assert isinstance(request.body, altered.IncrementalAlterConfigsRequest)
    return altered.IncrementalAlterConfigsResponse(
        responses=[
            altered.AlterConfigsResourceResponse(
                error_code=40 if resource.resource_name == "strict" else 0,
                error_message="no such key" if resource.resource_name == "strict" else None,
                resource_type=resource.resource_type,
                resource_name=resource.resource_name,
            )
            for resource in request.body.resources
        ]
    )


@pytest.fixture
def cluster() -> Iterator[ScriptedBrokers]:
    with scripted_cluster() as brokers:
        scripts = brokers.nodes[0].scripts
        scripts[described.DescribeConfigsRequest] = describe
        scripts[altered.IncrementalAlterConfigsRequest] = alter
        yield brokers


def test_values_that_nobody_set_are_left_out(kwire: Command, cluster: ScriptedBrokers) -> None:
    set_ones = kwire("configs", "describe", "topic", "orders", "--json", *at(cluster)).json
    every = kwire("configs", "describe", "topics", "orders", "--all", "--json", *at(cluster)).json
    assert [(row["name"], row["value"], row["source"]) for row in set_ones["configs"]] == [
        ("retention.ms", "5", "DYNAMIC_TOPIC_CONFIG"),
        ("ssl.key.password", None, "DYNAMIC_BROKER_CONFIG"),
    ]
    assert [row["name"] for row in every["configs"]] == [*CONFIGS]


def test_a_hidden_value_is_told_from_one_that_is_not_set(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    lines = kwire("configs", "describe", "topic", "orders", "--all", *at(cluster)).out.splitlines()
    assert [line.split()[1:3] for line in lines[1:]] == [
        ["retention.ms", "5"],
        ["segment.ms", "7"],
        ["ssl.key.password", "(hidden)"],
    ]


def test_a_key_that_there_is_not_is_an_error_of_its_own(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    words = ("configs", "describe", "topic", "orders", "--key", "retention.mss", "--json")
    run = kwire(*words, *at(cluster))
    [row] = run.json["configs"]
    assert (run.code, row["name"], row["error"]) == (1, "retention.mss", "INVALID_CONFIG")
    run = kwire("configs", "describe", "group", "g", "--key", "x", "--json", *at(cluster))
    assert (run.code, run.json["configs"][0]["message"]) == (0, "not set")


def test_a_change_says_what_was_and_what_is(kwire: Command, cluster: ScriptedBrokers) -> None:
    run = kwire(
        "configs", "set", "topic", "orders,strict", "retention.ms=9", "--json", *at(cluster)
    )
    assert run.code == 1
    done, refused = run.json["changes"]
    assert (done["resource"], done["before"], done["after"], done["error"]) == (
        "orders",
        "5",
        "9",
        None,
    )
    assert (refused["resource"], refused["error"], refused["message"]) == (
        "strict",
        "INVALID_CONFIG",
        "no such key",
    )


def test_a_dry_run_is_the_nodes_own(kwire: Command, cluster: ScriptedBrokers) -> None:
    run = kwire("configs", "unset", "topic", "orders", "retention.ms", "--dry-run", *at(cluster))
    (request,) = cluster.nodes[0].requests(altered.IncrementalAlterConfigsRequest)
    assert isinstance(request, altered.IncrementalAlterConfigsRequest)
    assert request.validate_only
    assert run.code == 0


@pytest.mark.parametrize("key", ["ssl.key.password", "a.key.that.nobody.declared"])
def test_a_secret_in_a_file_is_set_and_never_shown(
    kwire: Command, cluster: ScriptedBrokers, tmp_path: Path, key: str
) -> None:
    file = tmp_path / "secret.properties"
    file.write_text(f"{key}={SECRET}\n")
    run = kwire("configs", "set", "broker", "0", "--add-config-file", str(file), *at(cluster))
    (request,) = cluster.nodes[0].requests(altered.IncrementalAlterConfigsRequest)
    assert isinstance(request, altered.IncrementalAlterConfigsRequest)
    assert request.resources[0].configs[0].value == SECRET
    assert run.code == 0
    assert SECRET not in run.out + run.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["set", "nonsense", "a", "b=c"], "'nonsense' is no type"),
        (["set", "topic", "a", "b"], "'b' has no value: write KEY=VALUE."),
        (["set", "topic", "a", "b=1", "b=2"], "b comes twice."),
        (["set", "topic", "a"], "give KEY=VALUE, or --add-config-file."),
        (["set", "topic", "a,,b", "c=1"], "a name is missing in 'a,,b'."),
        (["unset", "topic", "a", "b=c"], "to delete a key, write the key alone."),
    ],
)
def test_wrong_words_are_refused_before_anything_is_sent(
    kwire: Command, cluster: ScriptedBrokers, words: list[str], sentence: str
) -> None:
    run = kwire("configs", *words, *at(cluster))
    assert run.code == 2
    assert sentence in run.error
    assert not cluster.nodes[0].asked


@pytest.mark.parametrize(
    ("operation", "value", "expected"),
    [
        ("SET", "a", "a"),
        ("DELETE", None, "delete"),
        ("APPEND", "compact,new", "compact,new"),
        ("SUBTRACT", "compact", ""),
    ],
)
def test_lists_change_from_the_topics_own_value(
    operation: str, value: str | None, expected: str
) -> None:
    """ConfigurationControlManager: the value of the broker's file is no base for a list."""
    entry = ConfigEntry(
        name="cleanup.policy",
        value="compact",
        source=ConfigSource.TOPIC,
        synonyms=(
            ConfigSynonym(name="cleanup.policy", value="compact", source=ConfigSource.TOPIC),
            ConfigSynonym(
                name="log.cleanup.policy", value="delete", source=ConfigSource.STATIC_BROKER
            ),
            ConfigSynonym(name="log.cleanup.policy", value="other", source=ConfigSource.DEFAULT),
        ),
    )
    change = ConfigChange(
        name="cleanup.policy", operation=AlterConfigOperation[operation], value=value
    )
    assert after(TOPIC, change, entry) == expected
