"""A decoded flow as a tree: all fields of the version, no secret, nothing a terminal obeys."""

from uuid import UUID

import pytest

from kwire.codec.declaration import Message
from kwire.messages.a04_leader_and_isr import LeaderAndIsrRequest
from kwire.messages.a06_update_metadata import UpdateMetadataRequest
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a32_describe_configs import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.a38_create_delegation_token import CreateDelegationTokenResponse
from kwire.messages.a39_renew_delegation_token import RenewDelegationTokenRequest
from kwire.messages.a40_expire_delegation_token import ExpireDelegationTokenRequest
from kwire.messages.a41_describe_delegation_token import (
    DescribedDelegationToken,
    DescribeDelegationTokenResponse,
)
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from kwire.messages.a52_vote import PartitionData, TopicData, VoteRequest, VoteResponse
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.data.default_principal_data import DefaultPrincipalData
from kwire.messages.records.user_scram_credential import UserScramCredentialRecord
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from kwire.proxy import Tree, flow_trees
from kwire.proxy.flows.masks import is_secret
from kwire.proxy.flows.tree import lines, message_tree
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.flows.dialogue_flows import decoded, rpc

SECRET = b"open sesame"


def text(message: Message, version: int) -> str:
    """Return the whole tree of a message."""
    return "\n".join(lines(message_tree("message", message, version)))


def names(tree: Tree) -> list[str]:
    return [child.name for child in tree.children]


def test_the_tree_has_the_fields_of_the_version_in_wire_order() -> None:
    partition = PartitionData(replica_id=3001, voter_directory_id=UUID(int=1))
    vote = VoteRequest(topics=[TopicData(topic_name="m", partitions=[partition])])
    tree = message_tree("VoteRequest", vote, 0)
    assert names(tree) == ["cluster_id", "topics"]
    assert names(message_tree("VoteRequest", vote, 1)) == ["cluster_id", "voter_id", "topics"]
    assert "voter_directory_id: AAAAAAAAAAAAAAAAAAAAAQ" in text(vote, 1)
    assert "pre_vote" not in text(vote, 1)
    assert "pre_vote: false" in text(vote, 2)


def test_a_flow_has_a_tree_for_each_message_with_its_header() -> None:
    flow = rpc(VoteRequest(), VoteResponse(error_code=41), 2)
    request, response = flow_trees(flow)
    assert [request.name, response.name] == ["VoteRequest", "VoteResponse"]
    assert names(request.children[0]) == [
        "request_api_key",
        "request_api_version",
        "correlation_id",
        "client_id",
    ]
    assert "error_code: 41 NOT_CONTROLLER" in "\n".join(lines(response))


def test_tagged_fields_are_shown_where_they_were_sent() -> None:
    assert "node_endpoints" not in text(VoteResponse(), 2)
    vote = VoteResponse()
    vote.unknown_tags = {7: b"\x01\x02"}
    assert "unknown tag 7: 2 bytes: 0102" in text(vote, 2)


@pytest.mark.parametrize(
    ("message", "version", "line"),
    [
        (LeaderAndIsrRequest(type=2), 7, "type: 2 FULL"),
        (UpdateMetadataRequest(type=1), 8, "type: 1 INCREMENTAL"),
        (UpdateMetadataRequest(type=7), 8, "type: 7"),
        (ZkMigrationStateRecord(zk_migration_state=2), 0, "zk_migration_state: 2 PRE_MIGRATION"),
        (ZkMigrationStateRecord(zk_migration_state=9), 0, "zk_migration_state: 9"),
    ],
)
def test_numbers_of_a_migration_are_named(message: Message, version: int, line: str) -> None:
    assert f"  {line}" in text(message, version).splitlines()


def test_long_values_are_shortened_and_escapes_made_harmless() -> None:
    shown = text(VoteRequest(cluster_id="\x1b[2J\x9b\udc80" + "c" * 1000), 2)
    assert '"\\x1b[2J\\x9b\\udc80ccc' in shown
    assert "…" in shown
    assert len(shown) < 400


@pytest.mark.parametrize(
    ("message", "version"),
    [
        (SaslAuthenticateRequest(auth_bytes=SECRET), 2),
        (SaslAuthenticateResponse(auth_bytes=SECRET), 2),
        (CreateDelegationTokenResponse(hmac=SECRET), 3),
        (RenewDelegationTokenRequest(hmac=SECRET), 2),
        (ExpireDelegationTokenRequest(hmac=SECRET), 2),
        (DescribeDelegationTokenResponse(tokens=[DescribedDelegationToken(hmac=SECRET)]), 3),
        (
            AlterUserScramCredentialsRequest(
                upsertions=[ScramCredentialUpsertion(salt=SECRET, salted_password=SECRET)]
            ),
            0,
        ),
        (UserScramCredentialRecord(salt=SECRET, stored_key=SECRET, server_key=SECRET), 0),
    ],
)
def test_secret_bytes_are_hidden(message: Message, version: int) -> None:
    message.unknown_tags = {9: SECRET} if version in type(message).flexible else None
    shown = text(message, version)
    assert "(hidden)" in shown
    assert SECRET.hex() not in shown


@pytest.mark.parametrize(
    "name",
    [
        "ssl.key.password",
        "ssl.keystore.key",
        "ssl.keystore.password",
        "ssl.keystore.certificate.chain",
        "ssl.truststore.certificates",
        "ssl.truststore.password",
        "sasl.jaas.config",
        "listener.name.internal.scram-sha-256.sasl.jaas.config",
        "delegation.token.secret.key",
        "password.encoder.secret",
        "sasl.oauthbearer.client.credentials.client.secret",
        "sasl.oauthbearer.assertion.private.key.passphrase",
    ],
)
def test_sensitive_configs_are_hidden(name: str) -> None:
    change = AlterableConfig(name=name, value="open sesame")
    resource = AlterConfigsResource(configs=[change])
    shown = text(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    assert name in shown
    assert "sesame" not in shown
    assert is_secret(CreatableTopicConfig(name=name, value="x"), "value")


def test_ordinary_configs_are_shown() -> None:
    config = CreatableTopicConfig(name="retention.ms", value="1000")
    topic = CreatableTopic(name="orders", configs=[config])
    assert 'value: "1000"' in text(CreateTopicsRequest(topics=[topic]), 7)


def test_a_config_that_the_node_calls_sensitive_is_hidden_with_its_synonyms() -> None:
    config = DescribeConfigsResourceResult(
        name="plugin.x",
        value="open sesame",
        is_sensitive=True,
        synonyms=[DescribeConfigsSynonym(name="plugin.x", value="open sesame")],
    )
    response = DescribeConfigsResponse(results=[DescribeConfigsResult(configs=[config])])
    assert "sesame" not in text(response, 4)


def test_an_envelope_shows_who_sends_what_and_hides_its_secrets_too() -> None:
    principal = DefaultPrincipalData(type="User", name="alice")
    inside = AlterUserScramCredentialsRequest(
        upsertions=[ScramCredentialUpsertion(name="bob", salted_password=SECRET)]
    )
    envelope = EnvelopeRequest(
        request_data=asked(inside, 0, 3)[4:],
        request_principal=bytes(2) + principal.encode(0),
        client_host_address=bytes([10, 0, 0, 7]),
    )
    (tree,) = flow_trees(decoded(asked(envelope, 0, 1)))
    shown = "\n".join(lines(tree))
    assert "request_principal: User:alice" in shown
    assert "client_host_address: 10.0.0.7" in shown
    assert "AlterUserScramCredentialsRequest: v0" in shown
    assert 'name: "bob"' in shown
    assert SECRET.hex() not in shown


def test_the_answer_in_an_envelope_hangs_under_the_envelopes_answer() -> None:
    envelope = EnvelopeRequest(request_data=asked(CreateTopicsRequest(), 7, 3)[4:])
    answer = EnvelopeResponse(response_data=answered(CreateTopicsResponse(), 7, 3)[4:])
    request, response = flow_trees(rpc(envelope, answer, 0))
    assert names(request)[-1] == "CreateTopicsRequest"
    assert names(response)[-1] == "CreateTopicsResponse"
