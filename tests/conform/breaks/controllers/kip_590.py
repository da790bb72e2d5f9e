"""Breaks of `controllers/kip-590`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a58_envelope import EnvelopeRequest

_OPENED = gives_error(EnvelopeRequest, 0)

BREAKS: dict[int, Break] = {
    1: changes(EnvelopeRequest, sets("response_data", lambda data: b"\0" * 4 + data[4:])),
    **dict.fromkeys(range(2, 9), _OPENED),
}
