"""Commands that destroy something ask, and take --yes; the others leave a way back."""

import re

import pytest

from command_tree import flags, leaves
from kwire.admin.registry import OPERATIONS
from tests.support.cli.command import Command
from tests.support.paths import ROOT

ASKS = {
    "acls remove",
    "apply",
    "brokers unregister",
    "features disable",
    "features downgrade",
    "groups delete",
    "groups evict",
    "groups forget",
    "groups seek",
    "migration plan",
    "partitions elect",
    "partitions reassign apply",
    "partitions reassign cancel",
    "partitions trim",
    "pipeline maintain",
    "quorum forget",
    "quorum remove-controller",
    "scram delete",
    "tokens expire",
    "topics delete",
    "transactions abort",
    "transactions fence",
    "transactions terminate",
}
"""Commands that take away what cannot be put back, or only by who knows it (decision 108)."""

LEAVES_A_WAY_BACK = {
    "acls add": "acls remove",
    "configs append": "configs subtract",
    "configs set": "configs unset, or set to the value before, which is printed",
    "configs subtract": "configs append",
    "configs unset": "configs set to the value before, which is printed",
    "features upgrade": "nothing is taken away; --dry-run shows it first",
    "logdirs move": "logdirs move",
    "quorum add-controller": "quorum remove-controller",
    "quorum replace": "refused unless the controller follows with another disk",
    "quotas set": "quotas set",
    "quotas unset": "quotas set",
    "scram set": "the user gave the new password",
    "storage format": "refuses what is formatted",
    "storage recover": "each directory is copied beside itself first",
    "tokens create": "tokens expire",
    "tokens renew": "tokens renew",
    "topics create": "topics delete",
    "topics grow": "nothing is taken away; --dry-run shows it first",
}
"""Each with the way back, or why none is needed."""


def test_every_command_that_destroys_has_the_one_option() -> None:
    assert {path for path in leaves() if "--yes" in flags(path)} == ASKS
    assert not [path for path in ASKS if "-y" not in flags(path)]


def test_every_command_that_changes_a_cluster_is_of_one_kind() -> None:
    """A new one has to be put into one of the lists."""
    assert not ASKS & LEAVES_A_WAY_BACK.keys()
    changing = {row.command for row in OPERATIONS if row.changes and row.command}
    dry = {path for path in leaves() if "--dry-run" in flags(path)}
    assert changing | dry <= ASKS | LEAVES_A_WAY_BACK.keys()
    assert LEAVES_A_WAY_BACK.keys() <= {*leaves()}


@pytest.mark.parametrize(
    "words",
    [
        "apply nowhere.yaml",
        "brokers unregister 5",
        "groups delete billing",
        "groups forget billing --topic orders",
        "quorum forget 3003",
        "quorum forget 3003 --disarm",
        "quorum remove-controller 3003",
        "scram delete alice",
        "tokens expire t1",
        "topics delete orders",
        "transactions fence orders-1",
        "transactions terminate orders-1",
    ],
)
def test_it_asks_before_anything_is_sent(kwire: Command, words: str) -> None:
    run = kwire(*words.split(), "--bootstrap-server", "127.0.0.1:1", "--timeout", "0.1")
    assert run.code == 2, run.err
    assert run.error.endswith("? Not a terminal: confirm with --yes.")


def test_no_block_of_the_documents_would_be_refused_in_a_script() -> None:
    paths = "|".join(ASKS - {"migration plan", "partitions elect"})
    command = re.compile(rf"^\s*(?:\$ )?kwire ({paths}) .*")
    lines = [
        f"{page.relative_to(ROOT)}:{number}: {line}"
        for page in (ROOT / "docs").rglob("*.md")
        for number, line in enumerate(page.read_text().splitlines(), 1)
        if command.match(line) and "--dry-run" not in line and "--yes" not in line
        if not ("pipeline maintain" in line and "--keep-days" not in line)
        if not (" apply " in line and "--plan" in line)
    ]
    assert lines == []
