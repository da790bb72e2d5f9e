"""Commands at a real controller that wants TLS and SASL, by a profile and by options."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kwire.text.properties import properties_text
from tests.support.cli.command import Command
from tests.support.proxy.secure_cluster import PASSWORD, USER, SecureCluster
from tests.support.tokens import CLIENT, CLIENT_SECRET, token_endpoint

COMMANDS = (
    ("cluster", "id"),
    ("quorum", "status", "--json"),
    ("features", "describe"),
    ("topics", "list"),
    ("export",),
)
"""Commands of an admin client's connections and of an observer's."""


def test_commands_authenticate_as_a_profile_says(
    secure: SecureCluster, tmp_path: Path, kwire: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, properties = tmp_path / "config.toml", tmp_path / "client.properties"
    monkeypatch.setenv("KWIRE_CONFIG", str(config))
    monkeypatch.setenv("KWIRE_PROFILE", "secure")
    config.write_text(
        "[profiles.secure]\n"
        f"bootstrap_controllers = '{secure.node('CONTROLLER_SASL_TLS')}'\n"
        "command_config = 'client.properties'\nread_only = true\ntimeout = 60"
    )
    with token_endpoint(secure.issuer) as url:
        pairs = {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "OAUTHBEARER",
            "sasl.oauthbearer.token.endpoint.url": url,
            "sasl.oauthbearer.client.credentials.client.id": CLIENT,
            "sasl.oauthbearer.client.credentials.client.secret": CLIENT_SECRET,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(secure.authority.path),
        }
        properties.write_text(properties_text(pairs))
        for command in COMMANDS:
            run = kwire(*command)
            assert run.code == 0, (command, run.out, run.err)
            assert CLIENT_SECRET not in run.out + run.err
        at = ("--bootstrap-controller", secure.node("CONTROLLER_SASL_TLS"))
        run = kwire("shell", *at, "--config", str(properties), "ls", "/")
        assert run.code == 0, run.err
        run = kwire("doctor")  # which has something to say of listeners with another security
        assert re.search("^nodes/ok +ok +1 node answered", run.out), run.out + run.err
        refused = kwire("topics", "create", "never")
        assert refused.code != 0
        assert "read" in refused.error
    secure.client_properties(properties, "SCRAM-SHA-512", USER, "n0t-it", tls=True)
    run = kwire("quorum", "status")
    assert run.code == 1
    assert f"refuses {USER} by SCRAM-SHA-512: " in run.error
    assert "n0t-it" not in run.error
    secure.client_properties(properties, "SCRAM-SHA-512", USER, PASSWORD, tls=True)
    assert kwire("quorum", "status").code == 0
