"""The options of a cluster in commands: client properties, profiles, and which of them wins."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.cli.command import Command

NOBODY = "127.0.0.1:1"
"""Nothing listens there; the error names it."""


@pytest.fixture
def properties(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of client properties, and no profile."""
    monkeypatch.setenv("KWIRE_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.delenv("KWIRE_PROFILE", raising=False)
    return tmp_path / "client.properties"


def asked(kwire: Command, *arguments: str) -> str:
    """Return the error of a command that reaches nobody."""
    run = kwire("cluster", "id", "--timeout", "0.5", *arguments)
    assert run.code == 1
    return run.error


def test_addresses_may_stand_in_the_file_of_properties(properties: Path, kwire: Command) -> None:
    properties.write_text(f"bootstrap.controllers={NOBODY}")
    assert NOBODY in asked(kwire, "--command-config", str(properties))
    properties.write_text("bootstrap.servers=127.0.0.1:2\nbootstrap.controllers=127.0.0.1:3")
    run = kwire("cluster", "id", "--command-config", str(properties))
    assert run.code == 2
    assert run.error.startswith(f"{properties}:2: bootstrap.controllers and bootstrap.servers")
    named = asked(kwire, "--bootstrap-controller", NOBODY, "--command-config", str(properties))
    assert NOBODY in named


def test_a_profile_gives_what_options_do_not(properties: Path, kwire: Command) -> None:
    (properties.parent / "config.toml").write_text(
        f"[profiles.prod]\nbootstrap_servers='{NOBODY}'\ncommand_config='client.properties'"
    )
    properties.write_text("bootstrap.controllers=127.0.0.1:2")
    assert NOBODY in asked(kwire, "-P", "prod")
    assert "127.0.0.1:3" in asked(kwire, "-P", "prod", "--bootstrap-server", "127.0.0.1:3")
    properties.write_text("security.protocol=X")
    run = kwire("cluster", "id", "-P", "prod")
    assert (run.code, run.error[: len(str(properties)) + 2]) == (2, f"{properties}:1")


def test_a_command_without_security_loads_nothing_for_it() -> None:
    arguments = ["quorum", "status", "--bootstrap-controller", NOBODY, "--timeout", "0.1"]
    code = (
        "import sys\n"
        "from kwire.cli.main import main\n"
        "try:\n"
        f"    main({arguments})\n"
        "except SystemExit:\n"
        "    print(*sys.modules)\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "kwire.net.connection" in loaded
    assert not loaded & {"cryptography", "platformdirs", "tomllib", "urllib.request"}
    own = ("pem", "scram", "bearer_token", "token_sources", "tls_properties", "sasl_properties")
    assert not loaded & {f"kwire.net.{name}" for name in own}
