"""The kind of server that a check is for, and what it needs beside it."""

from __future__ import annotations

from enum import Enum, Flag, auto


class ServerRole(Enum):
    """The kind of server that a check is for."""

    ANY = "any"
    BROKER = "broker"
    CONTROLLER = "controller"


class Need(Flag):
    """Needs of a check beside the server; NOTHING: it reads only, or is refused.

    RESOURCES: creates topics, groups and the like under `kwire-conform-`, and removes them.
    THROW_AWAY: changes what it cannot take back. TWO_VOTERS: a quorum of two or more. EMPTY: a
    cluster without topics. SASL, TLS: credentials, certificates.
    """

    NOTHING = 0
    RESOURCES = auto()
    THROW_AWAY = auto()
    TWO_VOTERS = auto()
    EMPTY = auto()
    SASL = auto()
    TLS = auto()
