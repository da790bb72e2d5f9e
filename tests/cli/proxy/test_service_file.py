"""`kwire proxy --config` with a file that cannot be used."""

from pathlib import Path

from tests.support.cli.command import Command
from tests.support.cli.service_process import GatedNode, listener, service, write


def test_a_file_that_cannot_be_used_and_options_beside_it_are_wrong_usage(
    kwire: Command, file: Path
) -> None:
    assert kwire("proxy", "--config", str(file)).code == 2
    run = kwire("proxy", "--config", str(write(file, "clusters: 3")), "--metrics", "a:1")
    assert (run.code, run.error) == (
        2,
        "--config excludes --metrics: set it in the file.",
    )


def test_rules_that_are_wrong_are_told_before_anything_listens(
    kwire: Command, gated_node: GatedNode, file: Path
) -> None:
    write(file.with_name("rules.yaml"), "rules: [{match: ~api Vote}]")
    run = kwire(
        "proxy",
        "--config",
        str(write(file, service(listener(gated_node.address), rules="rules.yaml"))),
    )
    assert run.code == 2
    assert "rules.yaml: rules[1]: the rule has no action" in run.error
    assert "listening" not in run.err
