"""`kwire proxy --config FILE --check`: what is printed, and the exit codes."""

import json
from pathlib import Path
from typing import Any

from tests.support.cli.command import Command
from tests.support.cli.service_process import write
from tests.support.doctor.page import PROXY_PAGE, proxy_page

SAFE: dict[str, Any] = {
    "clusters": [{"listeners": [{"listen": "127.0.0.1:1", "upstream": "127.0.0.1:2"}]}]
}


def check(kwire: Command, file: Path, document: dict[str, Any], *options: str) -> tuple[int, str]:
    run = kwire("proxy", "--config", str(write(file, document)), "--check", *options)
    return run.code, run.out


def test_a_file_without_weaknesses_is_done(kwire: Command, tmp_path: Path) -> None:
    assert check(kwire, tmp_path / "f", SAFE) == (0, "no problems, no warnings\n")


def test_a_warning_is_said_and_no_failure(kwire: Command, tmp_path: Path) -> None:
    code, out = check(kwire, tmp_path / "f", {**SAFE, "metrics": "0.0.0.0:9464"})
    assert code == 0
    assert [line.strip() for line in out.splitlines()] == [
        "reach/metrics  WARNING  other machines read the metrics at 0.0.0.0:9464 without a login",
        "- metrics: 0.0.0.0:9464",
        "> write `metrics: 127.0.0.1:9464`, and let Prometheus, or a server that asks for a login,"
        " fetch them on this machine",
        "1 warning",
    ]


def test_a_problem_fails_and_programs_get_one_object(kwire: Command, tmp_path: Path) -> None:
    recorded = {**SAFE["clusters"][0], "record": {"path": "a.avro", "show_secrets": True}}
    code, out = check(kwire, tmp_path / "f", {"clusters": [recorded]}, "--json")
    assert code == 1
    assert json.loads(out) == {
        "file": str(tmp_path / "f"),
        "problems": 1,
        "warnings": 0,
        "unknowns": 0,
        "findings": [
            {
                "id": "secrets/recorded",
                "key": "clusters[1].record.show_secrets",
                "verdict": "problem",
                "sentence": "secrets are recorded unmasked",
                "evidence": ["clusters[1].record.show_secrets: true"],
                "advice": "remove `show_secrets`",
                "source": "docs/reference/capture-format.md",
            }
        ],
    }


def test_what_is_no_configuration_is_wrong_usage(kwire: Command, tmp_path: Path) -> None:
    file = write(tmp_path / "f", {"clusters": 3})
    for options, sentence in {
        ("--config", str(file)): f"{file}: clusters: this must be a list",
        ("--config", str(file), "--metrics", "a:1"): "--config excludes --metrics: set it in the"
        " file.",
        (): "--check is for a file: give it with --config.",
    }.items():
        run = kwire("proxy", "--check", *options)
        assert (run.code, run.error) == (2, sentence)


def test_the_page_lists_the_findings() -> None:
    assert PROXY_PAGE.read_text() == proxy_page(), "run `python -m tests.support.doctor.page`"
