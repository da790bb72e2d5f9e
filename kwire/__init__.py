"""Kafka's wire protocol: every message of Kafka 4.4, 4.3 and 3.9, byte for byte.

AddRaftVoterRequest = kwire.message("AddRaftVoterRequest")
data = AddRaftVoterRequest(voter_id=3).encode(version=1)
AddRaftVoterRequest.decode(data, version=1)
"""

from typing import TYPE_CHECKING, Any

from kwire.declaration import Message
from kwire.errors import (
    BrokerError,
    DecodeError,
    EncodeError,
    FrameError,
    KwireError,
    LocalError,
    UnsupportedVersion,
    WireError,
)
from kwire.registry import message, messages

if TYPE_CHECKING:
    from kwire.json_form import from_json, to_json

__all__ = [
    "BrokerError",
    "DecodeError",
    "EncodeError",
    "FrameError",
    "KwireError",
    "LocalError",
    "Message",
    "UnsupportedVersion",
    "WireError",
    "from_json",
    "message",
    "messages",
    "to_json",
]


def __getattr__(name: str) -> Any:
    """JSON is imported when it is asked for: most programs never do."""
    if name not in ("from_json", "to_json"):
        raise AttributeError(f"module 'kwire' has no attribute {name!r}")
    from kwire import json_form

    return getattr(json_form, name)
