"""`kwire capture` reads and mends what `kwire proxy -w` has written."""

import json
from pathlib import Path

import pytest

from kwire.capture import capture_info
from kwire.proxy.capture.recorder import Recorder, files_at
from kwire.proxy.service.config import ProxyConfig
from kwire.proxy.service.events import ReportEvent, ServiceEvent, ServiceEventKind
from tests.support.cli.command import Command
from tests.support.cli.proxy_process import end_with_ctrl_c, proxy, talk
from tests.support.file_permissions import mode_of, umask
from tests.support.proxy.flows.dialogue_flows import votes


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """Twenty Vote RPCs, a second apart from 1970-01-12 13:46:41 UTC on, two seconds each."""
    path = tmp_path / "votes.avro"
    with Recorder(files_at(path)) as recorder:
        for flow in votes(20):
            recorder(flow)
    return path


@pytest.fixture
def torn(capture: Path) -> Path:
    """The same without its end."""
    capture.write_bytes(capture.read_bytes()[:-3])
    return capture


def test_a_recorded_conversation_is_shown_as_it_was_live(
    kwire: Command, node: str, tmp_path: Path
) -> None:
    path, rules = tmp_path / "traffic.avro", tmp_path / "rules.yaml"
    rules.write_text("rules:\n  - {name: slow, match: ~api ApiVersions, delay: 1ms}")
    record = ["-w", str(path), "--rules", str(rules)]
    with proxy("--listen", f"3000@127.0.0.1:0={node}", *record) as (run, address):
        talk(address)
        live, err = end_with_ctrl_c(run)
    assert f"4 events recorded at {path}" in err
    shown = kwire("capture", "cat", str(path))
    assert shown.code == 0
    assert shown.out.splitlines() == live
    assert [line for line in live if "· delayed 0.001 s by rule slow" in line]
    assert "2 RPCs of 2 APIs on 1 connections, 1 with problems" in shown.err


def test_a_recording_that_stopped_is_a_failure_in_the_end(
    kwire: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "recording to one.avro stopped: No space left on device; traffic goes on"

    async def run(config: ProxyConfig, report: ReportEvent, file: Path | None) -> None:
        report(ServiceEvent(kind=ServiceEventKind.RECORDING_STOPPED, text=sentence))

    monkeypatch.setattr("kwire.cli.proxy.run._run", run)
    result = kwire("proxy", "--listen", "127.0.0.1:0=127.0.0.1:1", "-w", "one.avro")
    assert (result.code, result.err) == (1, f"{sentence}\n")


def test_a_recording_that_goes_on_is_named(kwire: Command, capture: Path) -> None:
    capture.rename(capture.with_name(f".{capture.name}.part"))
    for command, *query in (["info"], ["cat"], ["query", "from calls"]):
        run = kwire("capture", command, str(capture), *query)
        assert run.code == 1
        assert (
            f"{capture} is still being written, or was left over: read {capture.parent}" in run.err
        )


def test_cat_shows_whole_messages_and_selected_apis(kwire: Command, capture: Path) -> None:
    assert "topic_name" in kwire("capture", "cat", "-v", str(capture)).out
    assert kwire("capture", "cat", str(capture), "--api", "Fetch").out == ""


def test_cat_takes_a_time_range_and_gives_json(kwire: Command, capture: Path) -> None:
    run = kwire(
        *("capture", "cat", str(capture), "--json"),
        *("--from", "1970-01-12T13:46:45Z", "--to", "1970-01-12T13:46:49Z"),
    )
    *flows, counts = [json.loads(line) for line in run.out.splitlines()]
    assert [flow["time"] for flow in flows] == [
        "1970-01-12T13:46:45.000000+00:00",
        "1970-01-12T13:46:47.000000+00:00",
    ]
    assert counts["flows"] == 2


def test_times_may_count_from_either_end_and_expressions_say_what_is_shown(
    kwire: Command, capture: Path
) -> None:
    """The first request is at second 1, the last response at second 40."""
    run = kwire("capture", "cat", str(capture), "--json", "--from", "+2s", "--to", "-34s")
    *flows, _ = [json.loads(line) for line in run.out.splitlines()]
    assert [flow["correlationId"] for flow in flows] == [1, 2]
    view = "~api Vote & ~err * & ~lat <10s"
    assert len(kwire("capture", "cat", str(capture), "--view", view).out.splitlines()) == 20
    assert kwire("capture", "cat", str(capture), "--view", "!(~err 74)").out == ""


def test_the_proxy_command_reads_a_capture_and_copies_what_is_meant_of_it(
    kwire: Command, capture: Path
) -> None:
    shown = kwire("proxy", "-r", str(capture), "--view", "~api Vote", "--from", "+1s")
    assert shown.out == kwire("capture", "cat", str(capture), "--from", "+1s").out
    part = capture.with_name("part.avro")
    run = kwire("proxy", "-r", str(capture), "-w", str(part), "--from", "+30s")
    assert run.out == f"5 events written to {part}\n"
    assert kwire("capture", "cat", str(part)).out == "".join(
        kwire("capture", "cat", str(capture)).out.splitlines(keepends=True)[-5:]
    )


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--listen", "127.0.0.1:0=127.0.0.1:1"], "takes no --listen and no filters"),
        (["--from", "yesterday"], "'yesterday' is no time"),
        (["--view", "vote_id==3"], "column 1: no message has a field 'vote_id'"),
    ],
)
def test_reading_says_what_it_does_not_take(
    kwire: Command, capture: Path, arguments: list[str], sentence: str
) -> None:
    run = kwire("proxy", "-r", str(capture), *arguments)
    assert run.code == 2
    assert sentence in run.err


def test_info_counts(kwire: Command, capture: Path) -> None:
    (facts,) = kwire("capture", "info", str(capture.parent), "--json").json["files"]
    assert facts["file"] == str(capture)
    assert (facts["requests"], facts["responses"], facts["connections"]) == (20, 20, 1)
    assert facts["damages"] == []
    text = kwire("capture", "info", str(capture)).out
    assert "requests      20" in text
    assert "1970-01-12T13:46:41" in text


def test_damage_is_told_on_stderr_with_exit_code_1(kwire: Command, torn: Path) -> None:
    for command in ("info", "cat"):
        run = kwire("capture", command, str(torn))
        assert run.code == 1
        assert "the last block is not whole" in run.err


def test_what_is_made_of_a_damaged_capture_has_the_rest_and_exit_code_1(
    kwire: Command, capture: Path, tmp_path: Path
) -> None:
    data, torn = capture.read_bytes(), tmp_path / "torn.avro"
    torn.write_bytes(data[:-3])
    for command, name in (
        ("merge", "merged.avro"),
        ("anonymize", "renamed.avro"),
        ("export", "lines.jsonl"),
    ):
        out = tmp_path / name
        run = kwire("capture", command, str(capture), str(torn), "--out", str(out))
        assert (command, run.code) == (command, 1)
        assert "the last block is not whole" in run.err
        assert out.stat().st_size
    run = kwire("capture", "split", str(torn), "--into", str(tmp_path / "parts"), "--mib", "1")
    assert run.code == 1
    assert "the last block is not whole" in run.err


def test_repair_says_what_is_kept(kwire: Command, torn: Path) -> None:
    out = torn.with_name("mended.avro")
    run = kwire("capture", "repair", str(torn), "-o", str(out))
    assert run.code == 0
    assert run.out == f"40 records kept, 0 bytes lost: {out}\n"
    assert kwire("capture", "cat", str(out)).code == 0
    assert kwire("capture", "repair", str(torn)).code == 0
    assert kwire("capture", "info", str(torn)).code == 0


def test_a_file_that_was_not_written_is_not_claimed(kwire: Command, torn: Path) -> None:
    out = torn.with_name("out.avro")
    none = "there is no event to write: "
    run = kwire("proxy", "-r", str(torn), "-w", str(out), "--view", "~api Fetch")
    assert (run.code, run.out, none in run.error) == (1, "", True)
    torn.write_bytes(torn.read_bytes()[: capture_info(torn).start + 30])
    for command in (["merge"], ["anonymize"]):
        run = kwire("capture", *command, str(torn), "-o", str(out))
        assert (run.code, run.out, none in run.error) == (1, "", True)
    run = kwire("capture", "repair", str(torn), "-o", str(out))
    assert (run.code, run.out) == (1, "")
    assert "no record of it is whole: nothing was written" in run.error
    assert not out.exists()


def test_what_is_no_capture_is_an_error_of_one_line(kwire: Command, tmp_path: Path) -> None:
    assert "there is no capture in" in kwire("capture", "info", str(tmp_path)).error
    (tmp_path / "x.avro").write_bytes(b"Obj")
    assert "no capture: it does not begin" in kwire("capture", "cat", str(tmp_path)).error
    run = kwire("capture", "cat", str(tmp_path), "--from", "yesterday")
    assert run.code == 2
    assert "'yesterday' is no time" in run.error


def test_a_recording_is_not_written_over_another(kwire: Command, capture: Path) -> None:
    run = kwire("proxy", "--listen", "127.0.0.1:0=127.0.0.1:1", "-w", str(capture))
    assert run.code == 1
    assert "exists already" in run.error


def test_export_and_import_go_round(kwire: Command, capture: Path) -> None:
    packets = capture.with_name("votes.pcapng")
    run = kwire("capture", "export", str(capture), "-o", str(packets))
    assert run.out == f"43 packets written to {packets}\n"
    back = capture.with_name("back.avro")
    assert kwire("capture", "import", str(packets), "-o", str(back)).code == 0
    (facts,) = kwire("capture", "info", str(back), "--json").json["files"]
    assert (facts["requests"], facts["responses"]) == (20, 20)


def test_json_lines_have_the_whole_messages(kwire: Command, capture: Path) -> None:
    out = capture.with_name("votes.jsonl")
    assert kwire("capture", "export", str(capture), "-o", str(out)).code == 0
    values = [json.loads(line) for line in out.read_text().splitlines()]
    assert [value["api"] for value in values] == ["Vote"] * 20
    assert values[0]["messages"][0]["name"] == "VoteRequest"


def test_an_export_holds_what_is_meant(kwire: Command, capture: Path) -> None:
    out = capture.with_name("votes.jsonl")
    meant = ["--view", "~err *", "--from", "+2s", "--to", "+6s"]
    run = kwire("capture", "export", str(capture), "-o", str(out), *meant)
    assert run.out == f"2 events written to {out}\n"


def test_what_cannot_be_exported_or_imported_is_said(kwire: Command, capture: Path) -> None:
    assert kwire("capture", "export", str(capture), "-o", "x.txt").code == 2
    missing, packets = capture.with_name("missing.avro"), capture.with_name("missing.pcapng")
    assert kwire("capture", "export", str(missing), "-o", str(packets)).code == 1
    out = capture.with_name("back.avro")
    run = kwire("capture", "import", str(capture), "-o", str(out))
    assert "neither pcap nor pcapng" in run.error
    assert sorted(path.name for path in capture.parent.iterdir()) == ["votes.avro"]


def test_split_and_merge_give_the_same_again(kwire: Command, capture: Path) -> None:
    parts = capture.parent / "parts"
    run = kwire("capture", "split", str(capture), "--into", str(parts), "--seconds", "10")
    assert run.code == 0
    assert len(run.out.splitlines()) == len(list(parts.iterdir())) > 2
    out = capture.with_name("whole.avro")
    run = kwire("capture", "merge", str(parts), "-o", str(out))
    assert run.out == f"20 events written to {out}\n"
    again = kwire("capture", "cat", str(out)).out
    assert again == kwire("capture", "cat", str(capture)).out
    assert kwire("capture", "split", str(capture), "--into", str(parts)).code == 2


def test_an_anonymized_capture_is_shown_like_any_other(kwire: Command, capture: Path) -> None:
    outs = [capture.with_name(f"{name}.avro") for name in "ab"]
    key = capture.with_name("names.key")
    key.write_text("k\n")
    for out in outs:
        run = kwire("capture", "anonymize", str(capture), "-o", str(out), "--key-file", str(key))
        assert run.out == f"20 events written to {out}\n"
    shown = [kwire("capture", "cat", "-v", str(out)).out for out in outs]
    assert shown[0] == shown[1]
    assert '"__cluster_metadata"' in shown[0]
    assert "client-" in shown[0]
    assert "20 anonymized" not in shown[0]
    (facts,) = kwire("capture", "info", str(outs[0]), "--json").json["files"]
    assert facts["redacted"] == {"names": 40}


def test_the_key_of_names_is_no_argument(kwire: Command, capture: Path) -> None:
    words = ("capture", "anonymize", str(capture), "-o", str(capture.with_name("out.avro")))
    run = kwire(*words, "--key", "sesame")
    assert (run.code, "No such option: --key" in run.err, "sesame" in run.err) == (2, True, False)
    assert kwire(*words, "--key-file", "-", stdin=b"sesame\n").code == 0


@pytest.mark.parametrize("mask", [0o000, 0o077])
def test_all_that_is_made_of_captures_is_private(kwire: Command, capture: Path, mask: int) -> None:
    folder = capture.parent / "out"
    with umask(mask):
        assert (
            kwire("capture", "split", str(capture), "--into", str(folder), "--mib", "1").code == 0
        )
        for command, name in (
            (["merge"], "merged.avro"),
            (["anonymize"], "anonymized.avro"),
            (["repair"], "repaired.avro"),
            (["export"], "packets.pcapng"),
            (["export"], "events.jsonl"),
        ):
            run = kwire("capture", *command, str(capture), "-o", str(folder / name))
            assert run.code == 0, run.err
        packets = str(folder / "packets.pcapng")
        assert kwire("capture", "import", packets, "-o", str(folder / "in.avro")).code == 0
        assert kwire("proxy", "-r", str(capture), "-w", str(folder / "copy.avro")).code == 0
    assert mode_of(folder) == 0o700
    modes = {path.name: mode_of(path) for path in folder.iterdir()}
    assert set(modes.values()) == {0o600}
    assert len(modes) == 8


def test_a_recording_with_secrets_says_so_wherever_it_goes(kwire: Command, tmp_path: Path) -> None:
    path, plain = tmp_path / "open.avro", tmp_path / "plain.avro"
    for target, secrets in ((path, True), (plain, False)):
        files = files_at(target, shows_secrets=secrets)
        with Recorder(files, show_secrets=secrets) as recorder:
            for flow in votes(2):
                recorder(flow)
    torn = tmp_path / "torn.avro"
    torn.write_bytes(path.read_bytes()[:-3])
    parts = tmp_path / "parts"
    for arguments in (
        ("merge", str(plain), str(path), "-o", str(tmp_path / "merged.avro")),
        ("repair", str(torn), "-o", str(tmp_path / "repaired.avro")),
        ("split", str(path), "--into", str(parts), "--mib", "1"),
        ("anonymize", str(path), "-o", str(tmp_path / "anonymized.avro")),
        ("export", str(path), "-o", str(tmp_path / "open.pcapng")),
        ("export", str(plain), "-o", str(tmp_path / "plain.pcapng")),
    ):
        assert kwire("capture", *arguments).code == 0
    assert kwire("proxy", "-r", str(path), "-w", str(tmp_path / "copy.avro")).code == 0
    told = {
        file.name: capture_info(file).shows_secrets
        for file in (*tmp_path.glob("*.avro"), *parts.glob("*.avro"))
    }
    (part,) = parts.glob("*.avro")
    hidden = {"plain.avro": False, "anonymized.avro": False}
    shown = ("open.avro", "torn.avro", "merged.avro", "repaired.avro", "copy.avro", part.name)
    assert told == hidden | dict.fromkeys(shown, True)
    assert "secrets       recorded as they passed" in kwire("capture", "info", str(path)).out
    assert "secrets " not in kwire("capture", "info", str(plain)).out
    (facts,) = kwire("capture", "info", str(path), "--json").json["files"]
    assert facts["showsSecrets"] is True
    assert b"--show-secrets" in (tmp_path / "open.pcapng").read_bytes()
    assert b"--show-secrets" not in (tmp_path / "plain.pcapng").read_bytes()
    run = kwire("capture", "import", str(tmp_path / "open.pcapng"), "-o", str(tmp_path / "in.avro"))
    assert run.code == 0
