"""A service takes up rules and scripts when they are saved, as `kwire proxy` alone does."""

import socket
from pathlib import Path

from tests.support.cli.proxy_process import ANSWER, PATIENCE
from tests.support.cli.service_process import GatedNode, ask, listener, running, service, write

SCRIPT = """
from kwire.proxy import Close, Filter
class Refuse(Filter):
    def on_api_versions_request(self, request, call):
        return {action}
"""


def test_rules_and_scripts_that_are_saved_are_loaded_again(
    gated_node: GatedNode, tmp_path: Path
) -> None:
    """After an error the previous rules stay; connections are not touched."""
    rules, script = tmp_path / "rules.yaml", tmp_path / "script.py"
    write(rules, "rules: [{name: none, match: ~api Vote, delay: 1ms}]")
    write(script, SCRIPT.format(action="None"))
    config = service(listener(gated_node.address), rules="rules.yaml", scripts=["script.py"])
    with running(write(tmp_path / "kwire-proxy.yaml", config)) as run:
        address = run.listening()
        run.next_event("ready")
        with socket.create_connection(address, timeout=PATIENCE) as client:
            assert ask(client) == ANSWER
            write(rules, "rules: [{match: ~api Nothing, drop: true}]")
            assert "no API is called 'Nothing'" in run.next_event("not loaded")["message"]
            assert ask(client) == ANSWER
            write(script, "import sys\nsys.exit(1)")
            # The rules' error, with a mark below its column, was one event: this one is the next.
            assert run.next_line()["message"].endswith("line 2: SystemExit: 1")
            write(script, SCRIPT.format(action="None"))
            write(rules, "rules: [{name: all, match: ~api ApiVersions, close: true, after: 1h}]")
            run.next_event("the filters were loaded again")
            assert ask(client) == ANSWER
            write(rules, "rules: [{name: all, match: ~api ApiVersions, close: true}]")
            run.next_event("the filters were loaded again")
            assert ask(client) == b""
        write(rules, "rules: []")
        run.next_event("the filters were loaded again")
        with socket.create_connection(address, timeout=PATIENCE) as client:
            assert ask(client) == ANSWER
            write(script, SCRIPT.format(action="Close()"))
            run.next_event("the filters were loaded again")
            assert ask(client) == b""
        assert run.end() == 0


def test_only_the_cluster_whose_file_was_saved_begins_anew(
    gated_node: GatedNode, tmp_path: Path
) -> None:
    """A rule of the other one that has struck as often as it may does not strike again."""
    once = "rules: [{match: ~api ApiVersions, close: true, count: 1}]"
    config = service(listener(gated_node.address), rules="kept.yaml")
    other = {"name": "other", "listeners": [listener(gated_node.address, 7)], "rules": "saved.yaml"}
    config["clusters"].append(other)
    write(tmp_path / "kept.yaml", once)
    saved = write(tmp_path / "saved.yaml", once)
    with running(write(tmp_path / "kwire-proxy.yaml", config)) as run:
        addresses = run.listening(), run.listening()
        run.next_event("ready")

        def answers() -> list[bytes]:
            found = []
            for address in addresses:
                with socket.create_connection(address, timeout=PATIENCE) as client:
                    found.append(ask(client))
            return found

        assert answers() == [b"", b""]
        assert answers() == [ANSWER, ANSWER]
        write(saved, once.replace("{", "{name: again, "))
        run.next_event("the filters were loaded again")
        assert answers() == [ANSWER, b""]
        assert run.end() == 0
