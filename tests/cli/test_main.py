"""The command as a whole: quick to start, quiet in pipes, one line for an error."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kwire.cli import main
from kwire.cli.screen import screen
from tests.support.cli.command import KWIRE, Command
from tests.support.eventually import eventually_blocking
from tests.support.paths import ROOT

HEAVY = ("rich", "construct", "asyncio", "msgspec", "kwire.codec", "kwire.proxy", "real_kafka")


def shell(
    command: str, folder: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a line in bash, in a folder, with `kwire` on its path."""
    path = f"{KWIRE.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        env={**os.environ, "PATH": path, **environment},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_help_lists_the_commands_and_the_exit_codes(kwire: Command) -> None:
    run = kwire("--help")
    assert run.code == 0
    assert "Exit codes: 0 done, 1 failed, 2 wrong usage" in run.out


@pytest.mark.parametrize("arguments", [["--help"], ["decode", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    program = (
        "import sys\nfrom kwire.cli.main import main\ntry:\n    main()\n"
        f"except SystemExit:\n    print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    told = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    assert told.stdout.splitlines()[-1] == "[]"


def test_the_version_is_the_distributions(kwire: Command) -> None:
    from importlib.metadata import version

    assert kwire("--version").out == f"kwire {version('kwire')}\n"


def test_a_bug_report_has_versions_and_no_paths(kwire: Command) -> None:
    import platform
    from importlib.metadata import version

    for words in (("--version", "--json"), ("--json", "--version")):
        printed = kwire(*words).out
        said = json.loads(printed)
        assert (said["kwire"], said["python"].split()[-1]) == (
            version("kwire"),
            platform.python_version(),
        )
        assert said["engine"] in said["engines"]
        assert said["native"]["codec"] == ("native" in said["engines"])
        assert said["packages"]["msgspec"] == version("msgspec")
        assert said["extras"]["topic"] == {"confluent-kafka": version("confluent-kafka")}
        for secret in (str(Path.home()), str(ROOT), sys.prefix):
            assert secret not in printed


def test_a_reader_that_goes_away_is_no_error() -> None:
    told = shell("kwire protocol show | head -n 1")
    assert told.stdout.startswith("Key")
    assert told.stderr == ""


def test_a_closed_pipe_is_quiet_even_for_the_last_flush() -> None:
    told = shell("kwire protocol show VoteRequest --declaration | true; sleep 0.1")
    assert told.stderr == ""


def test_an_error_is_one_line_and_debug_shows_where(kwire: Command) -> None:
    assert len(kwire("protocol", "show", "Nope").err.splitlines()) == 1
    assert "Traceback" in kwire("protocol", "show", "Nope", "--debug").err
    assert "Traceback" in kwire("--debug", "protocol", "show", "Nope").err


def test_a_fault_of_kwire_itself_is_one_line_that_asks_for_a_report(
    kwire: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("kwire.messages.registry.message", broken)
    run = kwire("protocol", "show", "VoteRequest", "--declaration")
    assert run.code == 1
    assert "failed with KeyError: 'oops'. Add --debug" in run.error


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("cluster", "--bootstrap-controller", "localhost:9093"),
            "No such option: --bootstrap-controller. A command comes before its options: id,"
            " endpoints, describe.",
        ),
        (("--nope",), "No such option: --nope"),
        (("proxy", "--nope"), "No such option: --nope"),
    ],
)
def test_a_group_says_which_commands_there_are(
    kwire: Command, words: tuple[str, ...], sentence: str
) -> None:
    run = kwire(*words)
    assert run.code == 2
    assert run.err.splitlines()[-1].startswith(f"Error: {sentence}")
    assert kwire("cluster").err.startswith("Usage: kwire cluster [OPTIONS] COMMAND")


def test_an_unknown_command_is_wrong_usage(kwire: Command) -> None:
    run = kwire("decodee")
    assert run.code == 2
    assert "decodee" in run.error


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly_with_130(number: signal.Signals) -> None:
    with subprocess.Popen(
        [KWIRE, "decode", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        _wait_until_it_reads_stdin(process.pid)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err == ""


def test_a_background_job_of_a_script_ends_by_sigterm_too(tmp_path: Path) -> None:
    """A shell has such jobs ignore SIGINT; what SIGTERM does must not stand on it."""
    told = shell(
        "kwire proxy --listen 127.0.0.1:0=127.0.0.1:1 >out 2>&1 & job=$!;"
        " until grep -q listening out; do kill -0 $job || exit 1; sleep 0.1; done;"
        " kill $job; wait $job",
        tmp_path,
    )
    assert told.returncode == 0, told.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_fault(closed: str) -> None:
    assert shell(f"kwire protocol show VoteRequest --declaration {closed}").returncode == 0
    told = shell(f"kwire decode - {closed}")
    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert "failed with" not in told.stderr


def _wait_until_it_reads_stdin(pid: int) -> None:
    waits_in = Path(f"/proc/{pid}/wchan")
    eventually_blocking(waits_in.read_text, lambda function: "pipe" in function, pause=0.01)


def test_colours_are_for_terminals_only(kwire: Command) -> None:
    assert "\x1b[" not in kwire("protocol", "show", "VoteRequest", "--declaration").out
    assert "\x1b[" in shell("kwire protocol show VoteRequest --declaration", FORCE_COLOR="1").stdout


def test_rows_are_not_wrapped_in_a_pipe() -> None:
    wide = shell("kwire protocol show FetchResponse --version 17", COLUMNS="40").stdout
    assert "aborted_transactions: array of AbortedTransaction, compact length, nullable" in wide


def test_what_the_encoding_of_the_output_lacks_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    main._open_streams()
    screen().print("── the demo starts")
    sys.stdout.flush()
    assert written.getvalue() == rb"\u2500\u2500 the demo starts" + b"\n"


def test_a_reader_that_leaves_while_typer_writes_is_no_failure() -> None:
    """The pipe is closed at once, and the help is longer than a pipe holds."""
    program = (
        "import sys\nfrom kwire.cli import main as module\nimport typer\n"
        "app = typer.Typer(rich_markup_mode=None)\n"
        "@app.command()\ndef long() -> None:\n"
        "    for _ in range(100_000):\n        print('x' * 80)\n"
        "module.main([], command=app)\n"
    )
    run = shell(f'{{ {sys.executable} -c "{program}"; echo $? >&2; }} | head -1')
    assert run.stderr.strip() == "0"
