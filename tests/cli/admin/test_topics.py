"""`kwire topics`: what is sent, what is printed, and with which exit code it ends."""

from collections.abc import Iterator
from typing import cast

import pytest

from kwire.messages import a19_create_topics as creation
from kwire.messages import a20_delete_topics as deletion
from kwire.net.frames import RequestFrame
from kwire.testing import BackgroundQuorum
from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.cli.command import Command
from tests.support.cli.scripted_cluster import at, scripted_cluster


def create(request: RequestFrame) -> creation.CreateTopicsResponse:
    """Create any topic but one named `taken`."""
    topics = cast(creation.CreateTopicsRequest, request.body).topics
    return creation.CreateTopicsResponse(
        topics=[
            creation.CreatableTopicResult(name=topic.name, error_code=36 * (topic.name == "taken"))
            for topic in topics
        ]
    )


def delete(request: RequestFrame) -> deletion.DeleteTopicsResponse:
    """Delete any topic but one named `unknown`."""
    topics = cast(deletion.DeleteTopicsRequest, request.body).topics
    return deletion.DeleteTopicsResponse(
        responses=[
            deletion.DeletableTopicResult(name=topic.name, error_code=3 * (topic.name == "unknown"))
            for topic in topics
        ]
    )


@pytest.fixture
def brokers() -> Iterator[ScriptedBrokers]:
    """One broker that creates and deletes topics, and has one with a partition without leader."""
    with scripted_cluster() as cluster:
        node = cluster.nodes[0]
        node.scripts[creation.CreateTopicsRequest] = create
        node.scripts[deletion.DeleteTopicsRequest] = delete
        cluster.leaders = {("orders", 0): 0, ("orders", 1): -1, ("__consumer_offsets", 0): 0}
        yield cluster


def test_one_refused_topic_makes_exit_code_1_and_leaves_the_other_created(
    kwire: Command, brokers: ScriptedBrokers
) -> None:
    run = kwire("topics", "create", "new", "taken", *at(brokers), "--json")
    assert run.code == 1
    assert [(row["topic"], row["error"]) for row in run.json["topics"]] == [
        ("new", None),
        ("taken", "TOPIC_ALREADY_EXISTS"),
    ]


def test_a_topic_that_exists_may_be_wanted(kwire: Command, brokers: ScriptedBrokers) -> None:
    run = kwire("topics", "create", "taken", "--if-not-exists", *at(brokers), "-o", "name")
    assert (run.code, run.out) == (0, "taken\n")


def test_a_dry_run_is_the_controllers_own(kwire: Command, brokers: ScriptedBrokers) -> None:
    run = kwire("topics", "create", "new", "--dry-run", *at(brokers), "--json")
    assert run.json["dryRun"] is True
    (request,) = brokers.nodes[0].requests(creation.CreateTopicsRequest)
    assert cast(creation.CreateTopicsRequest, request).validate_only


def test_topics_are_listed_without_those_of_kafka_if_that_is_wanted(
    kwire: Command, brokers: ScriptedBrokers
) -> None:
    assert kwire("topics", "list", *at(brokers), "-o", "name").out.split() == [
        "__consumer_offsets",
        "orders",
    ]
    assert (
        kwire("topics", "list", "--filter", "ord.*", *at(brokers), "-o", "name").out == "orders\n"
    )


def test_only_partitions_in_trouble_are_shown(kwire: Command, brokers: ScriptedBrokers) -> None:
    run = kwire("topics", "describe", "--unavailable", *at(brokers), "--json")
    (row,) = run.json["partitions"]
    assert (row["topic"], row["partition"], row["leader"]) == ("orders", 1, None)


def test_an_unknown_topic_is_a_row_with_its_error(kwire: Command, brokers: ScriptedBrokers) -> None:
    run = kwire("topics", "describe", "nowhere", *at(brokers), "-o", "tsv")
    assert run.code == 1
    assert "UNKNOWN_TOPIC_OR_PARTITION" in run.out


def test_nothing_is_deleted_where_nobody_can_be_asked(
    kwire: Command, brokers: ScriptedBrokers
) -> None:
    run = kwire("topics", "delete", "orders", *at(brokers))
    assert run.code == 2
    assert "confirm with --yes" in run.error
    assert brokers.nodes[0].requests(deletion.DeleteTopicsRequest) == []


def test_a_topic_that_is_gone_is_an_error_unless_it_is_expected(
    kwire: Command, brokers: ScriptedBrokers
) -> None:
    assert kwire("topics", "delete", "orders", "unknown", "--yes", *at(brokers)).code == 1
    assert kwire("topics", "delete", "unknown", "--if-exists", "--yes", *at(brokers)).code == 0


def test_without_brokers_it_says_what_is_missing(kwire: Command) -> None:
    create = ("topics", "create", "orders", "--bootstrap-controller")
    with BackgroundQuorum(1) as quorum:
        asked = kwire(*create, quorum.bootstrap_controllers)
        allowed = kwire(*create, quorum.bootstrap_controllers, "--allow-unlisted")
    assert (asked.code, allowed.code) == (1, 1)
    assert "give --bootstrap-server, or --allow-unlisted. Either way" in asked.error
    runs = "`kwire demo --keep --ports 9093 --brokers 1` runs one at localhost:9092"
    assert asked.error.endswith(runs)
    assert "All brokers are currently fenced." in allowed.out
    assert runs in allowed.out.replace("\n", " ")


def test_a_read_only_profile_changes_nothing(
    kwire: Command,
    brokers: ScriptedBrokers,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profiles = tmp_path_factory.mktemp("profiles") / "config.toml"
    profiles.write_text(
        f'[profiles.prod]\nbootstrap_servers = "{brokers.addresses[0]}"\nread_only = true\n'
    )
    monkeypatch.setenv("KWIRE_CONFIG", str(profiles))
    run = kwire("topics", "create", "new", "-P", "prod", "--json")
    assert run.code == 1
    assert run.json["error"] == "READ_ONLY"
    assert "the profile is read-only" in run.error
    assert brokers.nodes[0].asked == []
    assert kwire("topics", "list", "-P", "prod").code == 0


WRONG_USAGE = {
    "no cluster": (["list"], "give --bootstrap-server, --bootstrap-controller or --profile"),
    "assignment": (["create", "t", "--replica-assignment", "1;2"], "write 1:2,2:3"),
    "both numbers and assignment": (
        ["create", "t", "-p", "2", "--replica-assignment", "1:2"],
        "not both",
    ),
    "config without value": (["create", "t", "-c", "retention.ms"], "write NAME=VALUE"),
    "no topic": (["delete"], "name a topic, or give --id"),
    "id": (["describe", "--id", "zz"], "'zz' is no id"),
    "two forms": (["list", "--json", "-o", "tsv"], "give --json or -o tsv, not both"),
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG_USAGE.values(), ids=list(WRONG_USAGE))
def test_wrong_usage_is_one_sentence(kwire: Command, arguments: list[str], sentence: str) -> None:
    cluster = () if sentence.startswith("give --bootstrap") else ("--bootstrap-server", "a:1")
    run = kwire("topics", *arguments, *cluster)
    assert run.code == 2
    assert sentence in run.error
