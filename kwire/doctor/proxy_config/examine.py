"""Runs the checks over a configuration."""

from __future__ import annotations

from pathlib import Path

from kwire.doctor.finding import FindingKind
from kwire.doctor.proxy_config import encryption, files, reach, relay, rights, secrets
from kwire.doctor.proxy_config.weakness import Weakness
from kwire.proxy.service.config import ProxyConfig

KINDS: tuple[FindingKind, ...] = (
    *relay.KINDS,
    *rights.KINDS,
    *encryption.KINDS,
    *reach.KINDS,
    *secrets.KINDS,
    *files.KINDS,
)
"""Every kind of weakness, in the order of the report."""


def examine(config: ProxyConfig, file: Path) -> list[Weakness]:
    """Return what makes a configuration less safe, in the order of the subjects.

    file: that the configuration was read from. Nothing is opened, connected to or changed.
    """
    return [
        *relay.check(config),
        *rights.check(config),
        *encryption.check(config),
        *reach.check(config),
        *secrets.check(config),
        *files.check(config, file),
    ]
