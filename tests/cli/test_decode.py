"""`kwire decode` reads frames and messages, and says what is wrong with those it cannot read."""

import inspect
import shlex
import subprocess
from pathlib import Path

import pytest

import vectors
from kwire.cli.decode import decode
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Listener,
    Node,
    TopicData,
)
from kwire.net.frames import encode_request, encode_response
from tests.support.cli.command import KWIRE, Command

# ApiVersions v4 of client "kwire", software "kwire" 0.1, as Kafka's Java client lays it out.
REQUEST = bytes.fromhex("0012000400000001 0005 6b77697265 00 066b77697265 04302e31 00")
SIZED = len(REQUEST).to_bytes(4, "big") + REQUEST


@pytest.mark.parametrize("data", [REQUEST, SIZED], ids=["without size", "with size"])
def test_the_header_of_a_request_tells_what_it_is(kwire: Command, data: bytes) -> None:
    run = kwire("decode", data.hex(" "))
    assert run.code == 0
    assert run.out.startswith("ApiVersionsRequest v4")
    for line in ("client_id: ", "correlation_id: 1", 'client_software_version: "0.1"'):
        assert line in run.out


def test_hex_may_be_spread_over_many_arguments(kwire: Command) -> None:
    assert "ApiVersionsRequest v4" in kwire("decode", *REQUEST.hex(" ").split()).out


@pytest.mark.parametrize("content", [SIZED, REQUEST.hex().encode()], ids=["raw", "hex"])
def test_a_file_may_hold_bytes_or_hex(kwire: Command, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "frame"
    file.write_bytes(content)
    assert "ApiVersionsRequest v4" in kwire("decode", str(file)).out


def test_a_dash_reads_stdin(kwire: Command) -> None:
    assert "ApiVersionsRequest v4" in kwire("decode", "-", stdin=SIZED).out


def test_what_is_larger_than_any_frame_is_refused_before_it_is_all_read(
    kwire: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwire.net.frames.FRAME_LIMIT", len(REQUEST))
    file = tmp_path / "frame"
    file.write_bytes(SIZED)
    assert kwire("decode", str(file)).code == kwire("decode", "-", stdin=SIZED).code == 0
    file.write_bytes(SIZED + b"x")
    for run in (kwire("decode", str(file)), kwire("decode", "-", stdin=SIZED + b"x")):
        assert run.code == 1
        assert f"there are more than {len(SIZED)} bytes" in run.error


def test_frames_one_after_the_other_are_all_shown(kwire: Command) -> None:
    asked = encode_request(
        DescribeQuorumRequest(topics=[TopicData(topic_name="__cluster_metadata")]),
        2,
        correlation_id=2,
    )
    out = kwire("decode", (SIZED + asked).hex()).out
    assert "ApiVersionsRequest v4" in out
    assert "DescribeQuorumRequest v2" in out
    assert '"__cluster_metadata"' in out


def quorum_response() -> bytes:
    listener = Listener(name="CONTROLLER", host="localhost", port=9093)
    body = DescribeQuorumResponse(
        error_code=104, nodes=[Node(node_id=3000, listeners=[listener])], error_message="no\x1b[2J"
    )
    return encode_response(body, 2, correlation_id=7)


@pytest.mark.parametrize("asked", ["55:2", "DescribeQuorum:2", "DescribeQuorumRequest:2"])
@pytest.mark.parametrize("skip", [0, 4], ids=["with size", "without size"])
def test_a_response_is_read_as_the_answer_to_its_request(
    kwire: Command, asked: str, skip: int
) -> None:
    run = kwire("decode", "--response-to", asked, quorum_response()[skip:].hex())
    assert run.code == 0
    assert "DescribeQuorumResponse v2" in run.out
    assert "error_code: 104 INCONSISTENT_CLUSTER_ID" in run.out
    assert 'name="CONTROLLER"  host="localhost"  port=9093' in run.out


def test_what_a_terminal_would_obey_is_shown_as_an_escape(kwire: Command) -> None:
    out = kwire("decode", "--response-to", "55:2", quorum_response().hex()).out
    assert r'"no\x1b[2J"' in out
    assert "\x1b" not in out


def test_api_versions_that_fell_back_to_v0_is_shown_as_v0(kwire: Command) -> None:
    frame = encode_response(ApiVersionsResponse(error_code=35), 0, correlation_id=1)
    out = kwire("decode", "--response-to", "ApiVersions:4", frame.hex()).out
    assert "ApiVersionsResponse v0" in out
    assert "35 UNSUPPORTED_VERSION" in out


def test_a_message_may_come_without_any_header(kwire: Command) -> None:
    data = ApiVersionsRequest(client_software_name="kwire").encode(3)
    run = kwire("decode", "--message", "ApiVersionsRequest", "--version", "3", data.hex())
    assert run.code == 0
    assert run.out.startswith("ApiVersionsRequest v3\n")


def test_what_a_shell_hands_over_as_a_pipe_is_a_file() -> None:
    told = subprocess.run(
        ["bash", "-c", f"{KWIRE} decode <(echo 0012 0000 00000001 ffff)"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout.startswith("ApiVersionsRequest v0"), told.stderr


def test_a_folder_is_named_as_one(kwire: Command, tmp_path: Path) -> None:
    run = kwire("decode", str(tmp_path))
    assert run.code == 1
    assert run.error == f"Is a directory: {tmp_path}"


def test_unknown_tagged_fields_are_shown(kwire: Command) -> None:
    message = ApiVersionsRequest(unknown_tags={99: b"\x01\x02"})
    run = kwire(
        "decode", "--message", "ApiVersionsRequest", "--version", "3", message.encode(3).hex()
    )
    assert "unknown tag 99: 2 bytes: 0102" in run.out


def test_bytes_behind_a_request_are_a_warning_as_kafka_ignores_them(kwire: Command) -> None:
    run = kwire("decode", (REQUEST + b"\0\0").hex())
    assert run.code == 0
    assert "2 bytes behind the request" in run.err


BAD_INPUT = {
    "truncated frame": ([SIZED[:-3].hex()], "a frame is cut short: it claims 27 bytes, 24 are"),
    "truncated body": ([REQUEST[:-6].hex()], "ApiVersionsRequest v4"),
    "truncated header": (["001200"], "a frame is cut short"),
    "two frames, one cut": ([(SIZED + SIZED[:9]).hex()], "behind 1 whole frame"),
    "half a byte": (["001"], "3 hex digits are no whole bytes"),
    "no hex, no file": (["missing.bin"], "'missing.bin' is no file, and as hex: 'm' is no hex"),
    "nothing": ([""], "there are no bytes to decode"),
    "unknown API key": (
        ["270f 0000 00000001 0000"],
        "no API has key 9999; if this is no request, say what it is: --response-to or --message",
    ),
    "response to an unknown version": (
        ["--response-to", "Fetch:99", "00"],
        "FetchRequest has versions 0-18, not 99",
    ),
    "unknown version": (
        ["0012 0009 00000001 0000 00"],
        "ApiVersionsRequest has versions 0-5, not 9",
    ),
    "unknown version, whose header would be flexible": (
        ["0003 0063 00000001 0005 6b77697265"],
        "MetadataRequest has versions 0-13, not 99",
    ),
    "unknown message": (
        ["--message", "AddRaftVoterReq", "--version", "0", "00"],
        "did you mean 'AddRaftVoterRequest'",
    ),
    "unknown version of a message": (
        ["--message", "VoteRequest", "--version", "9", "00"],
        "VoteRequest has versions 0-2, not 9",
    ),
    "a message with bytes left over": (
        ["--message", "ApiVersionsRequest", "--version", "0", "00"],
        "1 bytes left over",
    ),
    "response to an unknown key": (["--response-to", "9999:0", "00000001"], "no API has key 9999"),
    "response to an unknown name": (["--response-to", "Vot:0", "00"], "no message is called"),
    "truncated response": (
        ["--response-to", "55:2", quorum_response()[:-9].hex()],
        "a frame is cut short: it claims",
    ),
}


@pytest.mark.parametrize(("arguments", "sentence"), BAD_INPUT.values(), ids=list(BAD_INPUT))
def test_bad_input_is_one_sentence_and_exit_code_1(
    kwire: Command, arguments: list[str], sentence: str
) -> None:
    run = kwire("decode", *arguments)
    assert run.code == 1
    assert sentence in run.error
    assert not run.out


WRONG_USAGE = {
    "nothing": ([], "Missing argument"),
    "version without message": (["--version", "1", "00"], "--version is for --message"),
    "both kinds": (["--message", "X", "--response-to", "1:1", "00"], "exclude each other"),
    "no version": (["--message", "VoteRequest", "00"], "VoteRequest has versions 0-2"),
    "no pair": (["--response-to", "55", "00"], "is not API:VERSION"),
    "version of letters": (["--response-to", "55:x", "00"], "is not API:VERSION"),
    "a key too long to be one": (["--response-to", "9" * 5000 + ":0", "00"], "is not API:VERSION"),
    "a version too long": (["--response-to", "1:" + "9" * 5000, "00"], "is not API:VERSION"),
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG_USAGE.values(), ids=list(WRONG_USAGE))
def test_wrong_usage_is_exit_code_2(kwire: Command, arguments: list[str], sentence: str) -> None:
    run = kwire("decode", *arguments)
    assert run.code == 2
    assert sentence in run.error


def test_the_example_of_the_help_text_works(kwire: Command) -> None:
    examples = [line.strip() for line in (inspect.getdoc(decode) or "").splitlines()]
    example = next(line for line in examples if line.startswith("kwire decode 0"))
    assert "ApiVersionsRequest v4" in kwire(*shlex.split(example)[1:]).out


def test_json_is_kafkas_own_form(kwire: Command) -> None:
    """The member names are those of Kafka's request log (RequestConvertToJson)."""
    assert kwire("decode", "--json", SIZED.hex()).json == {
        "requestHeader": {
            "requestApiKey": 18,
            "requestApiVersion": 4,
            "correlationId": 1,
            "clientId": "kwire",
        },
        "request": {"clientSoftwareName": "kwire", "clientSoftwareVersion": "0.1"},
    }


def test_json_of_a_response_and_of_a_message_alone(kwire: Command) -> None:
    answer = kwire("decode", "--json", "--response-to", "55:2", quorum_response().hex()).json
    assert answer["responseHeader"] == {"correlationId": 7}
    assert answer["response"]["errorMessage"] == "no\x1b[2J"
    data = DescribeQuorumRequest().encode(2).hex()
    alone = kwire("decode", "--json", "--message", "DescribeQuorumRequest", "--version", "2", data)
    assert alone.json == {"topics": []}


@pytest.mark.java
def test_json_of_a_frame_is_what_kafka_prints_of_it(kwire: Command) -> None:
    """Record bytes and unknown tags are not in Kafka's form; --exact adds them."""
    wanted = {("FetchResponse", 18), ("VoteRequest", 2), ("ProduceRequest", 13)}
    for vector in vectors.messages("4.3.1"):
        if (vector.name, vector.version) not in wanted or vector.profile != "SANE":
            continue
        of_message = ("--message", vector.name, "--version", str(vector.version))
        printed = kwire("decode", "--json", *of_message, vector.data.hex()).json
        assert printed == vector.json
        wanted.discard((vector.name, vector.version))
    assert not wanted


def test_exact_json_keeps_what_kafkas_form_loses(kwire: Command) -> None:
    data = DescribeQuorumRequest(unknown_tags={99: b"x"}).encode(2).hex()
    of_message = ("--message", "DescribeQuorumRequest", "--version", "2", data)
    assert kwire("decode", "--json", *of_message).json == {"topics": []}
    exact = kwire("decode", "--json", "--exact", *of_message).json
    assert exact == {"topics": [], "_unknownTags": {"99": "eA=="}}
    assert kwire("decode", "--exact", *of_message).code == 2
