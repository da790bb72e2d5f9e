"""`kwire acls`: words become ACLs as kafka-acls makes them; what is removed was shown before."""

from collections.abc import Iterator

import pytest

from kwire.admin.acls import AclFilter
from kwire.cli.admin.acl_words import AclWords
from kwire.messages import a29_describe_acls as described
from kwire.messages import a30_create_acls as created
from kwire.messages import a31_delete_acls as deleted
from kwire.net.frames import RequestFrame
from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.cli.command import Command
from tests.support.cli.scripted_cluster import at, scripted_cluster

ALICE = ("--allow-principal", "User:alice")


@pytest.fixture
def cluster() -> Iterator[ScriptedBrokers]:
    """A broker with one ACL: alice may READ the topic orders."""

    def describe(request: RequestFrame) -> described.DescribeAclsResponse:
        acl = described.AclDescription(
            principal="User:alice", host="*", operation=3, permission_type=3
        )
        resource = described.DescribeAclsResource(
            resource_type=2, resource_name="orders", pattern_type=3, acls=[acl]
        )
        return described.DescribeAclsResponse(resources=[resource])

    def create(request: RequestFrame) -> created.CreateAclsResponse:
        assert isinstance(request.body, created.CreateAclsRequest)
        results = [created.AclCreationResult() for _ in request.body.creations]
        return created.CreateAclsResponse(results=results)

    def delete(request: RequestFrame) -> deleted.DeleteAclsResponse:
        assert isinstance(request.body, deleted.DeleteAclsRequest)
        results = [deleted.DeleteAclsFilterResult() for _ in request.body.filters]
        return deleted.DeleteAclsResponse(filter_results=results)

    with scripted_cluster() as brokers:
        brokers.nodes[0].scripts |= {
            described.DescribeAclsRequest: describe,
            created.CreateAclsRequest: create,
            deleted.DeleteAclsRequest: delete,
        }
        yield brokers


def test_a_producer_and_consumer_gets_what_kafkas_tool_gives_it(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    """The list is what kafka-acls 4.3.1 added for the same options."""
    options = ["--topic", "orders", "--group", "g", "--transactional-id", "x"]
    run = kwire(
        "acls",
        "add",
        "--producer",
        "--consumer",
        *options,
        *ALICE,
        "--dry-run",
        "--json",
        *at(cluster),
    )
    assert {
        (row["resourceType"], row["resourceName"], row["operation"]) for row in run.json["acls"]
    } == {
        ("TOPIC", "orders", "WRITE"),
        ("TOPIC", "orders", "DESCRIBE"),
        ("TOPIC", "orders", "CREATE"),
        ("TOPIC", "orders", "READ"),
        ("GROUP", "g", "READ"),
        ("TRANSACTIONAL_ID", "x", "WRITE"),
        ("TRANSACTIONAL_ID", "x", "DESCRIBE"),
    }
    assert run.json["dryRun"] is True
    assert not cluster.nodes[0].requests(created.CreateAclsRequest)


def test_an_acl_that_was_there_is_not_new(kwire: Command, cluster: ScriptedBrokers) -> None:
    operations = ("--operation", "Read", "--operation", "describe-configs")
    run = kwire("acls", "add", "--topic", "orders", *operations, *ALICE, "--json", *at(cluster))
    assert [(row["operation"], row["isNew"]) for row in run.json["acls"]] == [
        ("READ", False),
        ("DESCRIBE_CONFIGS", True),
    ]
    assert len(cluster.nodes[0].requests(created.CreateAclsRequest)) == 1


def test_exactly_the_acls_that_were_found_are_removed(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    run = kwire("acls", "remove", "--topic", "orders", "--yes", "--json", *at(cluster))
    (request,) = cluster.nodes[0].requests(deleted.DeleteAclsRequest)
    assert isinstance(request, deleted.DeleteAclsRequest)
    (only,) = request.filters
    assert (only.principal_filter, only.host_filter, only.operation) == ("User:alice", "*", 3)
    assert [row["operation"] for row in run.json["acls"]] == ["READ"]


@pytest.mark.parametrize("asking", [("--dry-run",), ()])
def test_nothing_is_removed_unless_somebody_agrees(
    kwire: Command, cluster: ScriptedBrokers, asking: tuple[str, ...]
) -> None:
    run = kwire("acls", "remove", "--topic", "orders", *asking, *at(cluster))
    assert run.code == (0 if asking else 2)
    assert "orders" in run.out + run.err
    assert not cluster.nodes[0].requests(deleted.DeleteAclsRequest)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["remove", "--yes"], "this would remove every ACL"),
        (["add", "--topic", "t"], "give --allow-principal or --deny-principal"),
        (["add", *ALICE], "give a resource"),
        (
            ["add", "--topic", "t", "--allow-principal", "al"],
            "write User:al.",
        ),
        (["add", "--topic", "t", *ALICE, "--operation", "jump"], "'jump' is no operation"),
        (
            ["add", "--topic", "t", *ALICE, "--operation", "CreateTokens"],
            "a topic has no operation create-tokens",
        ),
        (["add", "--consumer", "--topic", "t", *ALICE], "--consumer needs --group."),
        (
            ["add", "--topic", "t", *ALICE, "--resource-pattern-type", "match"],
            "an ACL has the pattern type literal, prefixed.",
        ),
    ],
)
def test_wrong_words_are_refused_before_anything_is_sent(
    kwire: Command, cluster: ScriptedBrokers, words: list[str], sentence: str
) -> None:
    run = kwire("acls", *words, *at(cluster))
    assert (run.code, sentence in run.error) == (2, True)
    assert not cluster.nodes[0].asked


def test_a_host_that_is_a_name_is_warned_of(kwire: Command, cluster: ScriptedBrokers) -> None:
    run = kwire("acls", "add", "--topic", "t", *ALICE, "--allow-host", "example.com", *at(cluster))
    assert run.code == 0
    assert "Kafka compares addresses" in run.err


def test_what_is_not_named_is_any() -> None:
    assert AclWords(pattern_type="any").filters() == [AclFilter()]
    (of_alice,) = AclWords(pattern_type="any", principals=["User:alice"]).filters()
    assert of_alice == AclFilter(principal="User:alice")


@pytest.mark.parametrize("verb", ["remove", "add"])
def test_a_host_without_its_principal_is_refused(kwire: Command, verb: str) -> None:
    words = ("--topic", "orders", *ALICE, "--deny-host", "10.0.0.1")
    run = kwire("acls", verb, *words, "--bootstrap-server", "localhost:1")
    assert (run.code, run.error) == (2, "--deny-host needs --deny-principal.")


def test_an_operation_is_not_left_out_of_what_is_removed(kwire: Command) -> None:
    words = ("--producer", "--topic", "orders", "--operation", "Write")
    run = kwire("acls", "remove", *words, "--bootstrap-server", "localhost:1")
    assert (run.code, "choose the operations" in run.error) == (2, True)
