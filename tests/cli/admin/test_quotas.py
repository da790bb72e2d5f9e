"""`kwire quotas`: entities by kafka-configs' options, numbers before and after."""

import math
from collections.abc import Iterator

import pytest

from kwire.messages import a48_describe_client_quotas as described
from kwire.messages import a49_alter_client_quotas as altered
from kwire.net.frames import RequestFrame
from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.cli.command import Command
from tests.support.cli.scripted_cluster import at, scripted_cluster


@pytest.fixture
def cluster() -> Iterator[ScriptedBrokers]:
    """A broker with one quota, that of all clients of alice."""

    def describe(request: RequestFrame) -> described.DescribeClientQuotasResponse:
        entity = [
            described.EntityData(entity_type="client-id", entity_name=None),
            described.EntityData(entity_type="user", entity_name="alice"),
        ]
        value = described.ValueData(key="producer_byte_rate", value=1048576.0)
        entry = described.EntryData(entity=entity, values=[value])
        return described.DescribeClientQuotasResponse(entries=[entry])

    def alter(request: RequestFrame) -> altered.AlterClientQuotasResponse:
        assert isinstance(request.body, altered.AlterClientQuotasRequest)
        entries = [altered.ResponseEntryData(entity=entry.entity) for entry in request.body.entries]
        return altered.AlterClientQuotasResponse(entries=entries)

    with scripted_cluster() as brokers:
        brokers.nodes[0].scripts |= {
            described.DescribeClientQuotasRequest: describe,
            altered.AlterClientQuotasRequest: alter,
        }
        yield brokers


def test_a_default_is_no_name_in_json_and_a_word_on_a_screen(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    (row,) = kwire("quotas", "list", "--json", *at(cluster)).json["quotas"]
    assert row == {
        "entity": [{"type": "user", "name": "alice"}, {"type": "client-id", "name": None}],
        "key": "producer_byte_rate",
        "value": 1048576,
    }
    out = kwire("quotas", "list", *at(cluster)).out
    assert "user=alice, client-id=<default>" in out
    assert "1048576\n" in out


def test_a_change_says_what_was_and_what_is(kwire: Command, cluster: ScriptedBrokers) -> None:
    alice = ("--user", "alice", "--client-defaults")
    quotas = ("producer_byte_rate=5", "request_percentage=12.5")
    run = kwire("quotas", "set", *alice, *quotas, "--dry-run", "--json", *at(cluster))
    assert run.json["dryRun"] is True
    assert [(row["key"], row["before"], row["after"]) for row in run.json["quotas"]] == [
        ("producer_byte_rate", 1048576, 5),
        ("request_percentage", None, 12.5),
    ]
    (request,) = cluster.nodes[0].requests(altered.AlterClientQuotasRequest)
    assert isinstance(request, altered.AlterClientQuotasRequest)
    assert request.validate_only


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["set", "a=1"], "give --user, --client or --ip"),
        (["set", "--user", "a", "--user-defaults", "a=1"], "--user or --user-defaults, not both"),
        (["set", "--user", "", "a=1"], "give --user-defaults for the defaults"),
        (["set", "--user", "a", "--ip", "10.0.0.1", "a=1"], "for an address alone"),
        (["set", "--user", "a", "rate=many"], "'rate=many' is no quota: write KEY=NUMBER."),
        (["set", "--user", "a", "rate=inf"], "is no quota"),
        (["set", "--user", "a", "rate=1", "rate=2"], "rate comes twice."),
        (["list", "--strict"], "--strict needs"),
    ],
)
def test_wrong_words_are_refused_before_anything_is_sent(
    kwire: Command, cluster: ScriptedBrokers, words: list[str], sentence: str
) -> None:
    run = kwire("quotas", *words, *at(cluster))
    assert (run.code, sentence in run.error) == (2, True)
    assert not cluster.nodes[0].asked


def test_values_that_json_has_no_number_for_are_text(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    numbers = {"a": math.nan, "b": math.inf, "c": -math.inf, "d": 1e300}
    values = [described.ValueData(key=key, value=value) for key, value in numbers.items()]
    entity = [described.EntityData(entity_type="zone", entity_name="eu")]
    answer = described.DescribeClientQuotasResponse(
        entries=[described.EntryData(entity=entity, values=values)]
    )
    cluster.nodes[0].scripts[described.DescribeClientQuotasRequest] = lambda request: answer
    rows = kwire("quotas", "list", "--json", *at(cluster)).json["quotas"]
    assert [row["value"] for row in rows] == ["NaN", "Infinity", "-Infinity", 1e300]
    assert "e+300" in kwire("quotas", "list", *at(cluster)).out
    assert rows[0]["entity"] == [{"type": "zone", "name": "eu"}]
