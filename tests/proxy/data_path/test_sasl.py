"""Authentication passes byte for byte, however it comes in pieces, with filters or without."""

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.proxy import Call, Filter, NoticeKind
from tests.support.proxy.dialogue import Dialogue, answered, asked, pieces
from tests.support.proxy.filter_dialogue import through
from tests.support.proxy.observing_filter import ObservingFilter

pytestmark = pytest.mark.usefixtures("each_loop")

Turn = tuple[bytes, bytes]
CUTS = st.lists(st.integers(0, 400), max_size=6)


def bare(token: bytes) -> bytes:
    return struct.pack(">i", len(token)) + token


METADATA = (asked(MetadataRequest(), 12, 9), answered(MetadataResponse(), 12, 9))
PLAIN = b"\0alice\0open sesame"
SCRAM = (
    (b"n,,n=bob,r=fyko", b"r=fyko3rfc,s=QSXC,i=4096"),
    (b"c=biws,r=fyko3rfc,p=dHzb", b"v=6rri"),
)


def handshake(version: int, correlation_id: int) -> Turn:
    return (
        asked(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), version, correlation_id),
        answered(SaslHandshakeResponse(mechanisms=("SCRAM-SHA-256",)), version, correlation_id),
    )


def framed(number: int, token: bytes, answer: bytes) -> Turn:
    return (
        asked(SaslAuthenticateRequest(auth_bytes=token), 2, number),
        answered(SaslAuthenticateResponse(auth_bytes=answer), 2, number),
    )


CONVERSATIONS: dict[str, list[Turn]] = {
    "PLAIN, bare": [handshake(0, 1), (bare(PLAIN), bare(b"")), METADATA],
    "SCRAM, bare": [handshake(0, 1), *((bare(a), bare(b)) for a, b in SCRAM), METADATA],
    "an empty token": [handshake(0, 1), (bare(b""), bare(b"challenge")), METADATA],
    "framed, and again": [
        handshake(1, 1),
        *(framed(2 + n, *token) for n, token in enumerate(SCRAM)),
        handshake(1, 4),
        *(framed(5 + n, *token) for n, token in enumerate(SCRAM)),
        METADATA,
    ],
}


@pytest.mark.parametrize("held", [False, True], ids=["passed", "held"])
@pytest.mark.parametrize("name", list(CONVERSATIONS))
@settings(max_examples=25)
@given(cuts=CUTS)
def test_every_byte_arrives_and_no_token_is_kept(name: str, held: bool, cuts: list[int]) -> None:
    dialogue = through(ObservingFilter()) if held else Dialogue()
    turns = CONVERSATIONS[name]
    came: tuple[list[bytes], list[bytes]] = ([], [])
    for request, response in turns:
        came[0].append(dialogue.ask(*pieces(request, cuts)))
        came[1].append(dialogue.answer(*pieces(response, cuts)))
    arrived = [direction[-1] if held else b"".join(direction) for direction in came]
    assert arrived == [b"".join(side) for side in zip(*turns, strict=True)]
    assert dialogue.flows[-1].api == "Metadata"
    assert not [notice for notice in dialogue.notices if notice.kind is not NoticeKind.SASL_TOKENS]
    if "framed" not in name:
        copies = [flow.request_copy or b"" for flow in dialogue.flows]
        assert not [copy for copy in copies if b"sesame" in copy or b"biws" in copy]


class Text(Filter):
    """Leaves text where bytes belong."""

    def on_sasl_authenticate_request(self, request: SaslAuthenticateRequest, call: Call) -> None:
        request.auth_bytes = "hunter2"  # type: ignore[assignment]  # what a script may do


def test_a_secret_that_does_not_fit_is_not_told() -> None:
    dialogue = through(Text())
    dialogue.ask(asked(SaslAuthenticateRequest(auth_bytes=b"x"), 2, 1))
    dialogue.hang_up()
    (problem, _) = dialogue.flows[0].problems
    assert "left a message that cannot be encoded" in problem
    assert problem.endswith("what stands at auth_bytes does not fit")
