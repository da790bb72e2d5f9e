"""The ten examples do what their first lines say; a script that is wrong is told with its line."""

from pathlib import Path

import pytest

from kwire.codec.declaration import Message
from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a03_metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumResponse,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest, RemoveRaftVoterResponse
from kwire.net.frames import decode_request, decode_response
from kwire.proxy.filters.script import BadScript, load
from tests.support.paths import DOCS
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.filter_dialogue import HeldDialogue, through

EXAMPLES = DOCS / "filters"


def example(name: str) -> HeldDialogue:
    """Return a dialogue through one of the examples."""
    return through(*load(EXAMPLES / f"{name}.py"))


def response_of(dialogue: HeldDialogue, key: int, version: int) -> Message:
    """Return the response that the client got."""
    return decode_response(dialogue.at_client[4:], key, version).body


def test_late_heartbeats() -> None:
    dialogue = example("late_heartbeats")
    frames = [asked(BrokerHeartbeatRequest(broker_id=node), 1, node) for node in (1, 2)]
    assert dialogue.ask(*frames) == frames[0]
    dialogue.now_is(10.0)
    assert dialogue.at_node == frames[0] + frames[1]


def test_cap_fetch() -> None:
    dialogue = example("cap_fetch")
    dialogue.ask(asked(ApiVersionsRequest(), 4, 1))
    apis = [ApiVersion(api_key=key, min_version=0, max_version=17) for key in (0, 1)]
    dialogue.answer(answered(ApiVersionsResponse(api_keys=apis), 4, 1))
    body = response_of(dialogue, 18, 4)
    assert isinstance(body, ApiVersionsResponse)
    assert [api.max_version for api in body.api_keys] == [17, 12]


def test_hide_broker() -> None:
    dialogue = example("hide_broker")
    dialogue.ask(asked(MetadataRequest(), 9, 1))
    partitions = [MetadataResponsePartition(leader_id=node) for node in (1, 2)]
    brokers = [MetadataResponseBroker(node_id=node) for node in (1, 2)]
    topic = MetadataResponseTopic(name="orders", partitions=partitions)
    dialogue.answer(answered(MetadataResponse(brokers=brokers, topics=[topic]), 9, 1))
    body = response_of(dialogue, 3, 9)
    assert isinstance(body, MetadataResponse)
    assert [broker.node_id for broker in body.brokers] == [1]
    assert [
        (partition.leader_id, partition.error_code) for partition in body.topics[0].partitions
    ] == [
        (1, 0),
        (-1, 5),
    ]


def test_lose_every_tenth() -> None:
    dialogue = example("lose_every_tenth")
    for number in range(20):
        dialogue.ask(asked(FetchRequest(), 12, number))
        dialogue.answer(answered(FetchResponse(), 12, number))
    assert dialogue.at_client.count(answered(FetchResponse(), 12, 3)[8:]) == 18


def test_read_only() -> None:
    dialogue = example("read_only")
    frame = asked(CreateTopicsRequest(topics=[CreatableTopic(name="orders")]), 5, 1)
    assert dialogue.ask(frame) == b""
    body = response_of(dialogue, 19, 5)
    assert isinstance(body, CreateTopicsResponse)
    assert [(topic.name, topic.error_code) for topic in body.topics] == [("orders", 44)]


@pytest.mark.parametrize(("voters", "refused"), [(2, True), (3, False)])
def test_keep_two_voters(voters: int, refused: bool) -> None:
    dialogue = example("keep_two_voters")
    frame = asked(RemoveRaftVoterRequest(voter_id=3), 0, 7)
    dialogue.ask(frame)
    own = decode_request(dialogue.at_node[4:])
    states = [ReplicaState(replica_id=number) for number in range(voters)]
    topics = [ResponseTopicData(partitions=[ResponsePartitionData(current_voters=states)])]
    reply = DescribeQuorumResponse(topics=topics)
    dialogue.answer(answered(reply, 2, own.header.correlation_id))
    assert dialogue.at_node.endswith(frame) is not refused
    if refused:
        body = response_of(dialogue, 81, 0)
        assert isinstance(body, RemoveRaftVoterResponse)
        assert body.error_message == "2 voters are left"


@pytest.mark.parametrize(("asks", "gets"), [(1000, 1000), (1 << 30, 1 << 16)])
def test_small_fetches(asks: int, gets: int) -> None:
    sent = example("small_fetches").ask(asked(FetchRequest(max_bytes=asks), 12, 1))
    body = decode_request(sent[4:]).body
    assert isinstance(body, FetchRequest)
    assert body.max_bytes == gets


@pytest.mark.parametrize(
    ("client", "refused"), [("127.0.0.1:5", False), ("[::1]:5", False), ("10.0.0.1:5", True)]
)
def test_loopback_only(client: str, refused: bool) -> None:
    dialogue = example("loopback_only")
    dialogue.connection.client = client
    reached: list[bool] = []
    dialogue.runner.connect(lambda: reached.append(True))
    assert bool(reached) is not refused
    assert bool(dialogue.reasons) is refused


def test_hanging_controller() -> None:
    dialogue = example("hanging_controller")
    assert dialogue.ask(asked(VoteRequest(), 2, 1)) == b""
    dialogue.now_is(1e9)
    assert (dialogue.at_node, dialogue.at_client, dialogue.reasons) == (b"", b"", [])


def test_note_old_clients() -> None:
    dialogue = example("note_old_clients")
    for version in (1, 12):
        dialogue.ask(asked(FetchRequest(), version, version))
        dialogue.answer(answered(FetchResponse(), version, version))
    notes = [flow.notes for flow in dialogue.flows]
    assert notes == [("Kafka 4 takes Fetch from version 4 on",), ()]


def test_every_example_has_a_test_and_a_line_in_the_readme() -> None:
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert len(names) == 10
    assert {f"test_{name}" for name in names} <= set(globals())
    readme = (EXAMPLES / "README.md").read_text()
    assert all(f"]({name}.py)" in readme for name in names)


WRONG = {
    "x = (": ", line 1: SyntaxError",
    "\n1 / 0": ", line 2: ZeroDivisionError: division by zero",
    "import sys\nsys.exit(3)": ", line 2: SystemExit: 3",
    "x = 1": "defines no class that is a Filter",
    "from kwire.proxy import Filter": "defines no class that is a Filter",
    "from kwire.proxy import Filter\nclass F(Filter):\n    def on_vot_request(self, a, b): ...": (
        "F.on_vot_request is named after no message; did you mean on_vote_request?"
    ),
}


@pytest.mark.parametrize(("text", "said"), WRONG.items(), ids=[str(i) for i in range(len(WRONG))])
def test_a_script_that_is_wrong_is_told_with_its_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(text)
    with pytest.raises(BadScript) as caught:
        load(path)
    assert said in str(caught.value)


def test_a_script_may_name_its_filters_and_a_missing_one_is_told(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text("from kwire.proxy import Filter\nfilters = [Filter(), Filter()]")
    assert len(load(path)) == 2
    with pytest.raises(BadScript, match="cannot read"):
        load(tmp_path / "none.py")
