"""Flows on a screen: one line where there is room, two where there is not, safe to print."""

import io
import json

import pytest
from rich.console import Console

from kwire.cli.flows.counts import FlowCounts
from kwire.cli.flows.json_values import flow_data, notice_data
from kwire.cli.flows.lines import client_and_node, duration, flow_lines, notice_lines
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kwire.proxy import ClientConnection, DecodedFlow, Notice, NoticeKind
from tests.support.proxy.flows.decoded_flows import AT, connection, flow


def shown(decoded: DecodedFlow, width: int, *, tree: bool = False) -> list[str]:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=True, color_system=None)
    console.print(flow_lines(decoded, console, tree=tree))
    return out.getvalue().splitlines()


def heartbeat(code: int = 0) -> DecodedFlow:
    request = BrokerHeartbeatRequest(broker_id=1, broker_epoch=4, current_metadata_offset=99)
    return flow(request, BrokerHeartbeatResponse(error_code=code), 1)


def refused(text: str) -> DecodedFlow:
    answer = AddRaftVoterResponse(error_code=126, error_message=text)
    return flow(AddRaftVoterRequest(voter_id=3003), answer, 1)


def test_a_wide_screen_has_a_flow_on_one_line() -> None:
    (line,) = shown(heartbeat(), 160)
    assert line[14:18] == "#7  "
    for part in ("1 → 3000", "BrokerHeartbeat v1", "4.2 ms", "broker 1"):
        assert part in line


def test_a_narrow_screen_has_the_summary_below() -> None:
    first, *rest = shown(heartbeat(), 80)
    assert "BrokerHeartbeat v1" in first
    assert rest
    assert all(len(line) <= 80 for line in (first, *rest))
    assert rest[0].startswith(" " * 14)


def test_columns_line_up() -> None:
    lines = [shown(one, 200)[0] for one in (heartbeat(), refused("no"))]
    assert len({line.index(" ms") for line in lines}) == 1


def test_an_error_is_named_and_what_a_terminal_would_obey_is_not_obeyed() -> None:
    text = "".join(shown(refused("already\x1b[31m there"), 200))
    assert "DUPLICATE_VOTER" in text
    assert "\x1b" not in text


def test_the_whole_messages_are_shown_where_asked_for() -> None:
    lines = [line.strip("│├─└ ") for line in shown(refused("no"), 100, tree=True)]
    assert "AddRaftVoterRequest v1" in lines
    assert "voter_id: 3003" in lines
    assert "error_code: 126 DUPLICATE_VOTER" in lines


def test_problems_of_the_proxy_stand_below() -> None:
    decoded = heartbeat()
    decoded.flow.problems.append("not copied: the memory for copies is used up")
    assert shown(decoded, 160)[1].strip() == "! not copied: the memory for copies is used up"


def test_a_lost_flow_has_no_latency() -> None:
    assert "no response" in "".join(shown(flow(BrokerHeartbeatRequest(), None, 1), 160))


def test_who_asks_whom_names_nodes_where_they_are_known() -> None:
    def asks(on: ClientConnection, *, brief: bool = False) -> str:
        return client_and_node(flow(BrokerHeartbeatRequest(), None, 1, on=on).flow, brief=brief)

    assert asks(connection()) == "1 → 3000"
    assert asks(connection(peer=None)) == "raft-client-1 → 3000"
    assert asks(connection(node_id=None)) == "1 → 127.0.0.1:9093"
    assert asks(connection(node_id=None), brief=True) == "1 → :9093"


def test_an_rpc_has_the_client_id_of_its_own_request() -> None:
    on = connection(peer=None)
    decoded = flow(BrokerHeartbeatRequest(), None, 1, on=on)
    on.client_id = "a-later-one"
    assert "raft-client-1 → 3000" in shown(decoded, 160)[0]
    assert decoded.flow.sender == "raft-client-1"
    notice = Notice(connection=on, at=AT, kind=NoticeKind.CLOSED, text="closed")
    assert client_and_node(notice) == "a-later-one → 3000"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.00042, "0.4 ms"), (0.0042, "4.2 ms"), (0.042, "42 ms"), (0.42, "420 ms"), (4.2, "4.2 s")],
)
def test_a_duration_has_two_digits_that_matter(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_flow_as_json_has_everything_a_script_asks_for() -> None:
    data = json.loads(json.dumps(flow_data(refused("no"), tree=True)))
    assert data["type"] == "flow"
    assert data["time"] == "2026-11-21T07:27:53.056000+00:00"
    assert (data["clientNode"], data["node"], data["api"]) == (1, 3000, "AddRaftVoter")
    assert (data["apiKey"], data["apiVersion"], data["latencyMs"]) == (80, 1, 4.2)
    assert data["errors"] == ["DUPLICATE_VOTER"]
    assert [message["name"] for message in data["messages"]] == [
        "AddRaftVoterRequest",
        "AddRaftVoterResponse",
    ]


def test_a_notice_is_shown_and_is_json_too() -> None:
    notice = Notice(
        connection=connection(), at=AT, kind=NoticeKind.REFUSED, text="nobody\x07 listens"
    )
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(notice_lines(notice, console))
    assert console.export_text().rstrip().endswith(r"refused: nobody\x07 listens")
    assert notice_data(notice)["type"] == "refused"


def test_counts_are_by_api() -> None:
    counts = FlowCounts()
    for one in (heartbeat(), heartbeat(), heartbeat(7), refused("no")):
        counts.add(one)
    data = counts.data()
    assert data["apis"]["BrokerHeartbeat"]["flows"] == 3
    assert data["apis"]["BrokerHeartbeat"]["failed"] == 1
    assert data["apis"]["AddRaftVoter"]["medianMs"] == 4.2
    assert (data["flows"], data["connections"], data["undecoded"]) == (4, 1, 0)
    assert counts.sentence == "4 RPCs of 2 APIs on 1 connections"


def test_answers_of_nodes_that_do_not_lead_are_no_failures() -> None:
    counts = FlowCounts()
    counts.add(heartbeat(7))
    assert counts.leader_sentence is None
    for _ in range(2):
        counts.add(heartbeat(41))
    assert counts.data()["apis"]["BrokerHeartbeat"]["failed"] == 1
    assert counts.data()["apis"]["BrokerHeartbeat"]["notLeader"] == 2
    assert (counts.leader_sentence or "").startswith("2 answers of nodes that do not lead")


def test_an_answer_that_names_the_versions_to_ask_in_is_no_failure() -> None:
    counts = FlowCounts()
    unsupported, request = ApiVersionsResponse(error_code=35), ApiVersionsRequest()
    counts.add(flow(request, unsupported, 0))
    counts.add(flow(request, ApiVersionsResponse(error_code=42), 0))
    counts.add(heartbeat(35))
    apis = counts.data()["apis"]
    assert (apis["ApiVersions"]["failed"], apis["BrokerHeartbeat"]["failed"]) == (1, 1)


def test_a_message_that_cannot_be_read_is_counted() -> None:
    counts = FlowCounts()
    broken = heartbeat()
    broken.flow.request_copy = b"\x00\x3f\x00\x63" + bytes(20)
    counts.add(broken)
    assert (counts.problems, counts.undecoded) == (1, 1)
