"""The page in a browser: by keys alone, by its address, and with what peers would do to it."""

import re
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

from kwire.batches import Record, build_batch
from kwire.cli.flows.record_tree import record_trees
from kwire.messages.a00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.messages.a52_vote import PartitionData, TopicData, VoteRequest, VoteResponse
from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.net.frames import encode_request
from kwire.proxy import Flow, Notice, NoticeKind
from kwire.text.ids import parse_uuid
from kwire.trace import page
from kwire.trace.collected import Collected
from kwire.trace.document import make_document
from kwire.trace.page import page_of, write_page
from tests.support.browser import chromium
from tests.support.trace_pages import BEGIN, collect, flow_of, open_trace

__all__ = ["chromium"]

CHOSEN = "return [TRACE.flows.n[S.cursor], document.getElementById('details').innerText]"


def vote(number: int, error: int = 0) -> Flow:
    partition = PartitionData(replica_id=3001, replica_epoch=number)
    request = VoteRequest(
        topics=[TopicData(topic_name="__cluster_metadata", partitions=[partition])]
    )
    return flow_of(request, VoteResponse(error_code=error), 2, number=number, peer=3001)


def metadata(number: int, **options: Any) -> Flow:
    topic = MetadataResponseTopic(name="orders", topic_id=parse_uuid("OioyPTXcQomLWV-sGcyebw"))
    return flow_of(
        MetadataRequest(), MetadataResponse(topics=[topic]), 12, number=number, **options
    )


def story() -> Collected:
    """RPC 2 is a vote, 4 an error, 5 slow, 7 without an answer; a connection was refused."""
    lost = metadata(6)
    lost.answered = lost.response_size = lost.response_copy = None
    flows = [metadata(0), vote(1), metadata(2), vote(3, error=41), metadata(4, latency=2.0)]
    collected = collect([*flows, metadata(5), lost])
    text = "10.1.0.9:9092 does not accept connections"
    collected.add(
        Notice(connection=lost.connection, at=BEGIN + 5.5, kind=NoticeKind.REFUSED, text=text)
    )
    return collected


def press(chrome: Chrome, *keys: str) -> None:
    for key in keys:
        chrome.switch_to.active_element.send_keys(key)


def chosen(chrome: Chrome) -> int:
    found: list[Any] = chrome.execute_script(CHOSEN)
    return int(found[0])


def status(chrome: Chrome) -> str:
    return str(chrome.execute_script("return document.getElementById('status').textContent"))


def test_everything_is_reached_by_keys(chromium: Chrome, tmp_path: Path) -> None:
    open_trace(chromium, tmp_path, story())
    expected = (
        *(("j", 2), ("k", 1), ("e", 4), ("s", 5), ("u", 7), ("U", 7), ("g", 1), ("m", 2)),
        *(("m", 4), ("M", 2), ("G", 7), ("n", 7), ("N", 6), (Keys.ARROW_UP, 5)),
    )
    for key, number in expected:
        press(chromium, key)
        assert (key, chosen(chromium)) == (key, number)
    press(chromium, "g", "m", "m", "m")
    assert status(chromium).endswith("refused: 10.1.0.9:9092 does not accept connections")
    press(chromium, "/", "~api Vote", Keys.ENTER, Keys.ESCAPE, "g")
    assert (chosen(chromium), status(chromium)) == (2, "2 RPCs match. 2 RPCs in the list")
    press(chromium, "f")
    assert status(chromium) == "2 RPCs match. 7 RPCs in the list"
    press(chromium, "j", "n", "?")
    assert chosen(chromium) == 4
    assert chromium.execute_script("return document.getElementById('keys').open")
    press(chromium, Keys.ESCAPE, "+", "+", Keys.ARROW_RIGHT, "0")
    assert chromium.execute_script("return [S.from === S.begin, S.to === S.end]") == [True, True]


def test_a_field_shows_its_bytes(chromium: Chrome, tmp_path: Path) -> None:
    open_trace(chromium, tmp_path, story(), "#flow=2")
    press(chromium, Keys.ENTER, Keys.ARROW_DOWN)
    marked = "return [...document.querySelectorAll('.bytes mark')].map((one) => one.textContent)"
    header = flow_of(VoteRequest(), None, 2, number=1).request_copy or b""
    shown = "".join(chromium.execute_script(marked))
    assert bytes.fromhex("".join(re.findall("([0-9a-f]{2}) ", shown)))[:8] == header[:8]
    press(chromium, Keys.ARROW_DOWN)
    assert chromium.execute_script(marked) == ["00 ", "."]  # cluster_id


@pytest.mark.parametrize(
    ("address", "number", "sentence"),
    [
        ("#flow=4", 4, "7 RPCs in the list"),
        ("#flow=99", 1, "There is no RPC 99: the last one here is 7."),
        ("#t=2026-11-29T07:56:43.5Z", 5, "7 RPCs in the list"),
        ("#flow=2&view=~api%20Vote", 2, "2 RPCs match. 2 RPCs in the list"),
        ("#view=~err%20*", 1, "1 RPC match. 1 RPC in the list"),
    ],
)
def test_addresses_lead_to_flows_and_moments(
    address: str, number: int, sentence: str, chromium: Chrome, tmp_path: Path
) -> None:
    open_trace(chromium, tmp_path, story(), address)
    assert (chosen(chromium), status(chromium)) == (number, sentence)


def test_related_flows_are_of_the_chain_and_of_the_topic_by_both_names(
    chromium: Chrome, tmp_path: Path
) -> None:
    request = CreateTopicsRequest(topics=[CreatableTopic(name="orders")])
    asked = flow_of(request, None, 7, number=3, client_id="admin")
    inner = encode_request(request, 7, correlation_id=3, client_id="admin")[4:]
    carrying = flow_of(EnvelopeRequest(request_data=inner), None, 0, number=3, peer=1)
    produce = [
        flow_of(
            ProduceRequest(
                topic_data=[
                    TopicProduceData(**topic, partition_data=[PartitionProduceData(index=0)])
                ]
            ),
            None,
            version,
            number=number,
        )
        for topic, version, number in (
            ({"name": "orders"}, 9, 7),
            ({"topic_id": parse_uuid("OioyPTXcQomLWV-sGcyebw")}, 13, 8),
        )
    ]
    open_trace(chromium, tmp_path, collect([metadata(0), asked, carrying, *produce]), "#flow=2")
    text = chromium.execute_script(CHOSEN)[1]
    assert "same request, forwarded: RPC 3 Envelope v0: CreateTopics" in text
    chromium.execute_script("choose(4)")
    assert "partition orders-0: 2 RPCs" in chromium.execute_script(CHOSEN)[1]
    chromium.execute_script("document.querySelector('.related button:nth-of-type(3)').click()")
    assert status(chromium) == "2 RPCs match. 2 RPCs in the list"


def test_text_from_the_wire_is_no_html(chromium: Chrome, tmp_path: Path) -> None:
    evil = "</script><script>document.title='taken'</script><img src=x onerror=alert(1)>@DATA@"
    flows = [metadata(0, client_id=evil), metadata(1, client_id="\u202eevil\x1b[31m")]
    open_trace(chromium, tmp_path, collect(flows))
    assert chromium.title == "a trace"
    assert chromium.execute_script("return document.images.length") == 0
    assert evil in chromium.execute_script(CHOSEN)[1]
    press(chromium, "j")
    assert r"\u202eevil\x1b[31m" in chromium.execute_script(CHOSEN)[1]


def test_no_secret_is_in_the_page(chromium: Chrome, tmp_path: Path) -> None:
    login = flow_of(SaslAuthenticateRequest(auth_bytes=b"\0alice\0open sesame"), None, 2)
    open_trace(chromium, tmp_path, collect([login]))
    assert "auth_bytes: (hidden)" in chromium.execute_script(CHOSEN)[1]
    script = "return new TextDecoder('latin1').decode(FRAMES) + JSON.stringify(TRACE)"
    assert "sesame" not in chromium.execute_script(script)


def test_what_is_left_out_is_said_where_it_is(chromium: Chrome, tmp_path: Path) -> None:
    batch = build_batch([Record(value=b"v" * 500, timestamp=0)] * 60)
    partition = PartitionProduceData(index=0, records=batch)
    topic = TopicProduceData(name="orders", partition_data=[partition])
    whole = flow_of(ProduceRequest(topic_data=[topic]), None, 9)
    cut = flow_of(ProduceRequest(topic_data=[topic]), None, 9, number=1)
    cut.request_copy = (cut.request_copy or b"")[:300]
    unread = flow_of(ProduceRequest(topic_data=[topic]), None, 9, number=2)
    unread.request_copy = b"\0\0\0\x09\0\0\0\2\xff\xff\7"
    unread.request_size = len(unread.request_copy)
    collected = collect([whole, cut, unread])
    collected.losses.append("3 packets were lost")
    open_trace(chromium, tmp_path, collected)
    text = chromium.execute_script(CHOSEN)[1]
    assert f"… {len(batch) - 64:,} bytes of records are left out of this page" in text
    press(chromium, "j")
    assert (
        "The capture has only the beginning of this message." in chromium.execute_script(CHOSEN)[1]
    )
    assert "△ with a problem" in chromium.execute_script(CHOSEN)[1]
    press(chromium, "j")
    assert "not decoded: " in chromium.execute_script(CHOSEN)[1]
    says = "return document.getElementById('says').textContent"
    assert chromium.execute_script(says) == "3 packets were lost"


def test_an_empty_page_says_so(chromium: Chrome, tmp_path: Path) -> None:
    collected = Collected()
    connection = metadata(0).connection
    collected.add(Notice(connection=connection, at=BEGIN, kind=NoticeKind.NOT_CAPTURED, text="gap"))
    open_trace(chromium, tmp_path, collected)
    assert "There is none in this page." in chromium.find_element("id", "totals").text


def test_a_page_that_would_be_too_long_has_fewer_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    long = len(page_of(*make_document(collect([]), record_trees, "")))
    monkeypatch.setattr(page, "LIMIT", long + 6000)
    collected = collect(
        metadata(number, client_id=f"{number * 7919:x}" * 9) for number in range(300)
    )
    made, count = write_page(collected, record_trees, "")
    assert len(made) <= long + 6000
    assert 20 < count < 250


def test_the_page_allows_only_its_own_script_and_loads_nothing() -> None:
    made = page_of(*make_document(story(), record_trees, "<b>&\"'@STYLE@")).decode()
    policy = re.search('Content-Security-Policy" content="([^"]*)"', made)
    assert policy is not None
    assert re.fullmatch(
        r"default-src 'none'; script-src 'sha256-[\w+/=]+'; style-src 'sha256-[\w+/=]+'", policy[1]
    )
    assert "<title>&lt;b&gt;&amp;&quot;&#x27;@STYLE@</title>" in made
    assert not re.search(r"https?://|@(?:POLICY|DATA|FRAMES|SCRIPT)@", made)
