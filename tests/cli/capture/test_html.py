"""`kwire capture html`: what is read, what is in the page, what is left out and said."""

import gzip
import json
import os
import re
from base64 import b64decode
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from kwire.capture import CaptureFile, CaptureRecord, RecordEncoder
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from kwire.messages.config_resource import ResourceType
from kwire.messages.records.config import ConfigRecord
from kwire.proxy.capture.records import event_records
from tests.support.cli.command import Command
from tests.support.metadata_history.logs import NOON, WrittenLog
from tests.support.metadata_history.recordings import forwarded, in_one_capture, recorded
from tests.support.paths import FIXTURES
from tests.support.trace_pages import flow_of

PACKETS = FIXTURES / "packets"


def content(page: Path) -> tuple[dict[str, Any], bytes]:
    """Return the data and the frames of a page."""
    parts = dict(re.findall(r'<script id="(data|frames)"[^>]*>([^<]*)</script>', page.read_text()))
    data, frames = (gzip.decompress(b64decode(parts[name])) for name in ("data", "frames"))
    return json.loads(data), frames


def capture(path: Path, *flows: Iterable[CaptureRecord], secrets: bool = False) -> Path:
    file, encoder = CaptureFile(path, shows_secrets=secrets), RecordEncoder()
    file.write(*(encoder.encode(record) for record in in_one_capture(*flows)))
    file.close()
    return path


def asks(topic: str, value: str) -> IncrementalAlterConfigsRequest:
    config = AlterableConfig(name="retention.ms", config_operation=0, value=value)
    resource = AlterConfigsResource(
        resource_type=ResourceType.TOPIC, resource_name=topic, configs=[config]
    )
    return IncrementalAlterConfigsRequest(resources=[resource])


@pytest.fixture
def night(tmp_path: Path) -> Path:
    """A capture of three requests: one forwarded, that changed what `log` has."""
    envelope, answer = forwarded(asks("orders", "2"), IncrementalAlterConfigsResponse(), "alice")
    flows = [
        recorded(ApiVersionsRequest(), ApiVersionsResponse(), at=NOON - 900, version=3),
        recorded(envelope, answer, at=NOON - 50, version=0, client_id="broker-2"),
        recorded(asks("payments", "9"), None, at=NOON + 900),
    ]
    return capture(tmp_path / "night.avro", *flows)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A metadata log in which a config changes twice: once by a recorded request."""
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    written = WrittenLog(folder, time=NOON - 1000)
    written.lead(1, 1, NOON - 1000)
    kind = ResourceType.TOPIC
    for name in ("orders", "unasked"):
        written.time = NOON
        written.add(
            ConfigRecord(resource_type=kind, resource_name=name, name="retention.ms", value="2")
        )
    written.save()
    return folder


def test_a_page_is_written_with_what_requests_caused(
    kwire: Command, night: Path, log: Path, tmp_path: Path
) -> None:
    page = tmp_path / "night.html"
    run = kwire("capture", "html", str(night), "--log", str(log), "-o", str(page))
    assert (run.code, run.err) == (0, "")
    assert run.out == f"3 RPCs written to {page}: open it in a browser\n"
    data, frames = content(page)
    assert (data["title"], data["totals"]["flows"], data["says"]) == ("night.avro", 3, [])
    assert data["flows"]["n"] == [1, 2, 3]
    assert sum(filter(lambda size: size > 0, data["flows"]["req"] + data["flows"]["res"])) == len(
        frames
    )
    assert data["flows"]["caused"] == {
        "1": ['offset 1: /configs/TOPIC:orders/retention.ms: none → "2"']
    }
    changes = [mark[2:] for mark in data["marks"] if mark[1] == "change"]
    by_nobody = 'offset 2: /configs/TOPIC:unasked/retention.ms: none → "2", by no recorded request'
    assert changes == [
        ["offset 0: /raft/leader: none → 1, by no recorded request", -1],
        ['offset 1: /configs/TOPIC:orders/retention.ms: none → "2"', 1],
        [by_nobody, -1],
    ]


def test_shared_pages_have_no_names(kwire: Command, night: Path, log: Path, tmp_path: Path) -> None:
    page = tmp_path / "given.html"
    run = kwire("capture", "html", str(night), "--log", str(log), "--share", "-o", str(page))
    assert run.code == 0
    data, frames = content(page)
    everything = json.dumps(data["flows"]) + json.dumps(data["marks"]) + json.dumps(data["strings"])
    everything += json.dumps(data["sets"]) + json.dumps(data["lanes"]) + data["title"]
    for name in ("orders", "payments", "alice", "night", "unasked", "10.0.0.7", '"tool"'):
        assert name not in everything, name
        assert name.strip('"').encode() not in frames, name
    assert data["shared"] is True
    assert data["flows"]["caused"] == {"1": ["offset 1: a change under /configs"]}


def test_secrets_of_a_capture_that_has_them_stay_out(kwire: Command, tmp_path: Path) -> None:
    login = flow_of(
        SaslAuthenticateRequest(auth_bytes=b"\0alice\0open sesame"),
        SaslAuthenticateResponse(auth_bytes=b"sesame seed"),
        2,
    )
    shown = list(event_records(login, 1, "night", show_secrets=True))
    assert b"sesame" in (shown[0].frame or b"")
    night = capture(tmp_path / "night.avro", shown, secrets=True)
    page = tmp_path / "night.html"
    assert kwire("capture", "html", str(night), "-o", str(page)).code == 0
    assert b"sesame" not in content(page)[1]


def test_packets_are_read_and_their_losses_are_in_the_page(kwire: Command, tmp_path: Path) -> None:
    page = tmp_path / "packets.html"
    run = kwire("capture", "html", str(PACKETS / "01-base.pcap"), "-o", str(page))
    assert (run.code, run.err) == (0, "")
    assert content(page)[0]["totals"]["flows"] == 5
    lossy = PACKETS / "27-lost-one-request.pcap"
    page = tmp_path / "lossy.html"
    run = kwire("capture", "html", str(lossy), "-o", str(page))
    assert run.code == 1
    loss = f"{lossy}, missing: 36 bytes that are not in the file"
    data, _ = content(page)
    assert (run.err.splitlines(), data["says"]) == ([loss], [loss])
    assert any(mark[1] == "loss" for mark in data["marks"])
    page = tmp_path / "shared.html"
    run = kwire("capture", "html", str(lossy), "--share", "-o", str(page))
    assert run.err.splitlines() == [loss]
    assert content(page)[0]["says"] == ["a file, missing: 36 bytes that are not in the file"]


def test_damage_is_said_and_the_rest_is_there(kwire: Command, night: Path, tmp_path: Path) -> None:
    torn, page = tmp_path / "torn.avro", tmp_path / "night.html"
    torn.write_bytes(night.read_bytes()[:-20])
    run = kwire("capture", "html", str(night), str(torn), "-o", str(page))
    assert run.code == 1
    assert "torn.avro" in run.err
    data, _ = content(page)
    assert (data["totals"]["flows"], data["says"]) == (3, run.err.splitlines())
    run = kwire("capture", "html", str(torn), "-o", str(tmp_path / "torn.html"))
    assert "torn.avro" in run.err.splitlines()[0]
    assert run.error.startswith("there is no event in these captures")


def test_a_part_is_selected_by_an_expression(kwire: Command, night: Path, tmp_path: Path) -> None:
    page = tmp_path / "part.html"
    view = ["--view", "~api ApiVersions", "--to", "+500ms"]
    assert kwire("capture", "html", str(night), *view, "-o", str(page)).code == 0
    assert content(page)[0]["totals"]["flows"] == 1


def test_a_sequence_is_printed(kwire: Command, night: Path) -> None:
    run = kwire("capture", "html", str(night), "--mermaid", "2..3")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith("sequenceDiagram\n")
    assert ": 2 Envelope v0 with IncrementalAlterConfigs v1\n" in run.out
    assert ": 1 " not in run.out


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ([], 2, "Give one of --out and --mermaid."),
        (["-o", "x.html", "--mermaid", "1..2"], 2, "Give one of --out and --mermaid."),
        (["--mermaid", "2..1"], 2, "--mermaid 2..1: write 213..220, up to 200 flows."),
        (["--mermaid", "1..999"], 2, "--mermaid 1..999: write 213..220, up to 200 flows."),
        (["--mermaid", "7"], 1, "there is no flow of these numbers: 1 to 3"),
        (["--view", "~api Vote", "-o", "x.html"], 1, "there is no event in these captures"),
        (["--log", ".", "-o", "x.html"], 1, "has no metadata log"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    kwire: Command,
    night: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    code: int,
    words: str,
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    run = kwire("capture", "html", str(night), *options)
    assert run.code == code
    assert words in run.err
    assert not Path("x.html").exists()


def test_what_is_there_stays(kwire: Command, night: Path, tmp_path: Path) -> None:
    """A recording as --out would be lost, and a device is no file to put a page in place of."""
    before = night.read_bytes()
    (tmp_path / "link.html").symlink_to(os.devnull)
    for out in (night, tmp_path / "link.html", tmp_path):
        run = kwire("capture", "html", str(night), "-o", str(out))
        assert (run.code, run.out) == (1, "")
        assert run.err == f"Error: {out} exists already: choose another name or remove it\n"
    assert night.read_bytes() == before
    run = kwire("capture", "html", str(night), "-o", str(tmp_path / "gone" / "x.html"))
    assert f"there is no folder {tmp_path / 'gone'}" in run.err
