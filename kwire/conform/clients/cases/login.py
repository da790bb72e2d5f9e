"""Logins with SASL (KIP-152, KIP-368), and TLS (KIP-294)."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext

from kwire.conform.clients.case import ClientSection, ClientTask, Judge
from kwire.conform.clients.cluster import Cluster
from kwire.conform.clients.judges import DIFFERS, demand_calm, demand_records
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import ScriptRule, meanwhile, withheld
from kwire.conform.expectation import expect
from kwire.conform.vocabulary import Deviation, SentenceSource, Skipped, guide, kip, schema
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest

SECTION = ClientSection("client/login", "Logins and certificates")
_USER, _PASSWORD = "conform", "right"
_LIFETIME = 3.0
"""Seconds of a session; the client's task takes twice of it."""


def _needs_password(cluster: Cluster) -> None:
    cluster.password = _USER, _PASSWORD


def _has_short_sessions(cluster: Cluster) -> None:
    _needs_password(cluster)
    cluster.session_lifetime_ms = int(_LIFETIME * 1000)


def _environment(mechanism: str = "PLAIN", password: str = _PASSWORD) -> dict[str, str]:
    return {
        "KWIRE_SASL_MECHANISM": mechanism,
        "KWIRE_SASL_USERNAME": _USER,
        "KWIRE_SASL_PASSWORD": password,
    }


def _handshakes() -> list[ScriptRule]:
    """Return a rule without effect: the case is not about a program that does not log in."""
    action = meanwhile(lambda cluster: None)
    return [ScriptRule(api=SaslHandshakeRequest, action=action, times=None)]


def _logging_in(
    number: int, source: SentenceSource, environment: dict[str, str], *, may_fail: bool = True
) -> Callable[[Judge], Judge]:
    """Declare a case of a cluster with a password."""
    return SECTION.case(
        number,
        source,
        ClientTask.PRODUCE,
        rules=_handshakes,
        arrange=_needs_password,
        environment=environment,
        may_fail=may_fail,
    )


@_logging_in(1, guide("SASL Authentication Sequence"), _environment(), may_fail=False)
def _(play: Play) -> None:
    "A client logs in before it sends anything but ApiVersions."


@_logging_in(2, kip(152, "Proposed Changes"), _environment(password="wrong"))
def _(play: Play) -> None:
    "With a wrong password a client gives up, or pauses before it tries again."
    demand_calm(play, play.sent(SaslAuthenticateRequest))
    expect(not play.ended_well, "a task that fails", "exit code 0")


@_logging_in(3, guide("SASL Authentication Sequence"), _environment("SCRAM-SHA-512"))
def _(play: Play) -> None:
    "A client does not log in with a mechanism that the node refuses."
    demand_calm(play, play.sent(SaslHandshakeRequest))
    for request in play.sent(SaslAuthenticateRequest):
        raise Deviation("no SaslAuthenticate", request.name)


def _long_task() -> list[ScriptRule]:
    began: list[float] = []

    def is_over() -> bool:
        began.append(time.monotonic())
        return began[-1] - began[0] > 2 * _LIFETIME

    records = ScriptRule(api=FetchRequest, action=withheld(is_over), times=None, is_aid=True)
    return [*_handshakes(), records]


@SECTION.case(
    4,
    schema("SaslAuthenticateResponse", "SessionLifetimeMs"),
    ClientTask.CONSUME,
    rules=_long_task,
    arrange=_has_short_sessions,
    environment=_environment(),
)
def _(play: Play) -> None:
    "A client logs in again before its session ends, or over a new connection (KIP-368)."
    logins = play.demand(SaslAuthenticateRequest)
    if logins[-1].version < 1:
        raise Skipped("the client has no sessions that end")
    demand_records(play, ["r0", "r1", "r2"])
    expect(len(logins) > 1, "another login", "one login")


_CERTIFICATES = Path(__file__).parents[1] / "certificates"
"""Keys for these cases alone: authority.pem signed node.pem and other_name.pem, not stranger.pem.

All are for 127.0.0.1 but other_name.pem, which is for other.example.
"""


def _context(name: str) -> SSLContext:
    context = SSLContext(PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_CERTIFICATES / f"{name}.pem")
    return context


def _second_node_has(number: int, part: str, name: str) -> Callable[[Judge], Judge]:
    """Declare a case of nodes of which the second, the leader, has another certificate.

    part: of KIP-294.
    """
    return SECTION.case(
        number,
        kip(294, part),
        ClientTask.PRODUCE,
        tls=lambda node_id: _context(name if node_id == 2 else "node"),
        environment={"KWIRE_TLS_CA": str(_CERTIFICATES / "authority.pem")},
        arrange=Cluster.move_leaders,
        may_fail=True,
    )


def _refuses(play: Play) -> bool:
    """Return True if nothing was sent to the second node. Raises Skipped."""
    if not play.requests:
        raise Skipped("the program does not take the certificate in KWIRE_TLS_CA")
    return not any(request.node_id == 2 for request in play.requests)


@_second_node_has(10, "Proposed Changes", "node")
def _(play: Play) -> None:
    "A client trusts certificates of its authority."
    _refuses(play)
    play.demand_end()


@_second_node_has(11, "Motivation", "stranger")
def _(play: Play) -> None:
    "A client sends nothing to a node whose certificate nobody has signed that it trusts."
    expect(_refuses(play), "nothing for node 2", "requests")


@_second_node_has(12, "Proposed Changes", "other_name")
def _(play: Play) -> None:
    "A client sends nothing to a node whose certificate is for another name."
    if not _refuses(play):
        raise Deviation("nothing for node 2", "requests", DIFFERS)
