"""The blocks of code of the documents are run, in their order, and print what the page shows.

Pages whose blocks need what a test cannot give are in PARSED_ONLY, with the reason; their commands
are checked by tests/test_document_code.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from real_kafka import free_port
from tests.support.markdown import all_blocks
from tests.support.page_run import PageRun, missing_lines, running, wait_for
from tests.support.pages import PAGES, name_of
from tests.support.paths import ROOT

PURE = ["docs/engineers/codec.md", "docs/reference/filter-language.md"]
"""Pages that need no cluster."""


@pytest.mark.parametrize("name", PURE)
def test_a_page_of_python_prints_what_it_shows(name: str, tmp_path: Path) -> None:
    assert PageRun(folder=tmp_path).problems((ROOT / name).read_text()) == []


ON_A_DEMO = [
    "README.md",
    "docs/first-steps.md",
    "docs/operators/quorum.md",
    "docs/reference/stability.md",
]
"""Pages for which `kwire demo --keep` is cluster enough."""

NOT_RUN = {
    r"kwire-env|^pip install": "installs kwire, which tests/test_installation.py does",
    r"^(uvx|make) ": "is another test's",
    r"^kwire demo": "the fixture has started it",
    r"^kwire watch ": "is a screen: tests/cli/watch has it",
    r"^kwire --version$": "the release's is another",
    r"--config server.properties": "needs a controller's files",
    r"kwire scram set": "asks for a password",
    r"kwire tokens": "needs a login",
    r"kwire quorum status --timeout 20": "shows a quorum without a leader",
    r"kwire quorum upgrade --plan": "shows a quorum with static voters",
    r"kwire features upgrade share\.version": "is refused only beside a controller that is gone",
    r"kwire quorum (forget|replace)": "needs Kafka 4.4's metadata.version, or another disk",
}
"""Commands of pages that are run, which are left out, and why."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A demo that runs; what stands for the addresses of the pages."""
    with running(tmp_path_factory.mktemp("demo"), "demo", "--keep") as output:
        address = wait_for(output, r"^kwire quorum status --bootstrap-controller (\S+)$")[1]
        feed = wait_for(output, r"^kwire watch (\S+)$")[1]
        yield {
            r"(?:127\.0\.0\.1|localhost):9093": address,
            r"(?:127\.0\.0\.1|localhost):9900": feed,
        }


@pytest.mark.real
@pytest.mark.parametrize("name", ON_A_DEMO)
def test_a_page_about_a_quorum_prints_what_it_shows(
    name: str, demo: dict[str, str], tmp_path: Path
) -> None:
    own = {r"127\.0\.0\.1:19093": f"127.0.0.1:{free_port()}"}
    run = PageRun(folder=tmp_path, replaced={**demo, **own}, left_out=NOT_RUN)
    assert run.problems((ROOT / name).read_text()) == []


SERVER = r"(?:127\.0\.0\.1|localhost|kafka):9092"
AT = "--bootstrap-server localhost:9092"
EMPTY = f"kwire topics delete orders payments taken --if-exists --yes {AT}\n"

ON_BROKERS = {
    "docs/operators/administration.md": EMPTY
    + f"kwire topics create orders payments {AT}\n"
    + f"kwire configs set topic orders retention.ms=86400000 {AT}",
    "docs/operators/logdirs.md": EMPTY + f"kwire topics create orders --partitions 3 {AT}",
    "docs/operators/export.md": EMPTY
    + f"kwire topics create orders payments {AT}\n"
    + f"kwire configs set topic orders retention.ms=100000 {AT}",
    "docs/reference/output.md": EMPTY + f"kwire topics create taken {AT}",
    "docs/debuggers/request.md": EMPTY,
    "docs/reference/admin.md": EMPTY,
}
"""Pages that ask brokers, and what is run before."""

PARSED_ONLY = {
    "CONTRIBUTING.md": "its commands are the suite's own",
    "docs/contributing/writing-a-check.md": "it is a part of kwire's own code",
    "docs/debuggers/addresses.md": "its nodes have names of other machines",
    "docs/debuggers/packets.md": "packets of the reader's: tests/cli/watch/test_packets.py",
    "docs/debuggers/pipeline.md": "Spark: tests/pipeline",
    "docs/debuggers/recordings.md": "recordings of the reader's: tests/cli/capture",
    "docs/debuggers/replay.md": "its recordings are the reader's: tests/cli/replay",
    "docs/debuggers/rules.md": "its nodes are the reader's: tests/cli/proxy",
    "docs/debuggers/serve.md": "its nodes are the reader's: tests/cli/proxy",
    "docs/debuggers/spans.md": "its collector is the reader's: tests/cli/capture",
    "docs/debuggers/tls.md": "certificates and users: tests/cli/test_cluster_security.py",
    "docs/debuggers/trace.md": "recordings of the reader's: tests/cli/capture",
    "docs/debuggers/watch.md": "screens: tests/cli/watch",
    "docs/debuggers/wireshark.md": "tshark and a recording: tests/dissector",
    "docs/operators/explain.md": "its logs are the reader's: tests/quorum_story",
    "docs/emergencies.md": "disks that are lost: tests/test_emergencies.py runs it",
    "docs/engineers/conform.md": "a run takes a minute, and fails as the page shows: tests/conform",
    "docs/engineers/conform-clients.md": "its clients are the reader's: tests/cli/conform",
    "docs/engineers/controller.md": "folders and users of nodes: tests/cli/controller",
    "docs/engineers/faults.md": "runs of minutes: tests/fault_lab",
    "docs/engineers/vectors.md": "an export of all: tests/vectors",
    "docs/engineers/testing.md": "two brokers: tests/testing/test_examples.py runs it",
    "docs/operators/doctor.md": "clusters that are broken in certain ways: tests/doctor",
    "docs/operators/exporter.md": "a service, and Prometheus: tests/cli/test_exporter.py",
    "docs/operators/groups.md": "consumers: tests/cli/admin",
    "docs/operators/migration.md": "a cluster with ZooKeeper: tests/migration",
    "docs/operators/history.md": "a log of hours: tests/cli/test_log_history.py",
    "docs/operators/partitions.md": "three brokers: tests/cli/admin",
    "docs/operators/recovery.md": "disks that are lost: tests/cli/test_recover_on_kafka.py",
    "docs/operators/security.md": "certificates and users: tests/cli/test_cluster_security.py",
    "docs/operators/service.md": "a service of systemd: tests/proxy/service",
    "docs/operators/shell.md": "folders of nodes: tests/cli/test_shell.py",
    "docs/operators/shells.md": "shells of the reader's: tests/cli/test_completion_shells.py",
    "docs/operators/transactions.md": "a transaction that hangs: tests/cli/admin",
    "docs/reference/conformance.md": "results of runs: tests/conformance",
    "docs/reference/conformance-clients.md": "results of runs: tests/conformance",
    "docs/reference/protocol.md": "jq, and files of any length: tests/cli/protocol",
    "docs/reference/proxy-check.md": "a service's file: tests/proxy/service",
}
"""Pages whose commands are only parsed: what they would need, or which tests run them."""


def test_every_page_with_code_is_run_or_has_a_reason() -> None:
    with_code = {
        name_of(page)
        for page in PAGES
        for block in all_blocks(page.read_text())
        if block.language in ("", "console", "sh", "python")
    }
    listed = {*PURE, *ON_A_DEMO, *ON_BROKERS, *PARSED_ONLY}
    assert with_code - listed == set()
    assert [name for name in listed - with_code if (ROOT / name).exists()] == []


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Controllers of kwire's with a broker of Kafka's; what stands for the pages' addresses."""
    command = ("controller", "quorum", "-n", "3", "--brokers", "1", "--json")
    authorizer = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
    properties = (f"authorizer.class.name={authorizer}", "super.users=User:ANONYMOUS")
    options = (word for each in properties for word in ("--property", each))
    with running(tmp_path_factory.mktemp("brokers"), *command, *options) as output:
        server = wait_for(output, r'"bootstrapServers": "([^"]+)"')[1]
        controllers = wait_for(output, r'"bootstrapControllers": "([^"]+)"')[1]
        yield {
            SERVER: server,
            r"(?:127\.0\.0\.1|localhost|c1):9093": controllers.partition(",")[0],
        }


@pytest.mark.real
@pytest.mark.parametrize("name", ON_BROKERS)
def test_a_page_about_a_cluster_prints_what_it_shows(
    name: str, brokers: dict[str, str], tmp_path: Path
) -> None:
    server = brokers[SERVER]
    (tmp_path / "config.toml").write_text(f'[profiles.docs]\nbootstrap_servers = "{server}"\n')
    named = {"KWIRE_CONFIG": str(tmp_path / "config.toml"), "KWIRE_PROFILE": "docs"}
    run = PageRun(folder=tmp_path, replaced=brokers, left_out=NOT_RUN, environment=named)
    assert run.problems((ROOT / name).read_text(), ON_BROKERS[name]) == []


def test_lines_are_compared_by_their_form() -> None:
    shown = (
        "Id    Endpoints\n3000  CONTROLLER://127.0.0.1:40579\n…\n3 of 3 (worst 0.2 s)\ntoo long …\n"
    )
    printed = (
        "Id  Endpoints\n17  CONTROLLER://10.1.1.1:9\nmore\n2 of 3 (worst 1 s)\ntoo long a line\n"
    )
    assert missing_lines(shown, printed) == []
    assert missing_lines("Id\n", "Ids\n") == ["Id"]
    assert missing_lines("a\nb\n", "b\na\n") == ["b"]
    assert missing_lines("id MqT7X_0xShSrzMRin_pMlg\n", "id G6Vk-fzQQ-CxDciUkp2Lxw\n") == []
