"""Kafka's wire protocol: every message of Kafka 4.4, 4.3 and 3.9, byte for byte.

AddRaftVoterRequest = kwire.message("AddRaftVoterRequest")
data = AddRaftVoterRequest(voter_id=3).encode(version=1)
AddRaftVoterRequest.decode(data, version=1)
"""

from typing import TYPE_CHECKING, Any

from kwire.codec.declaration import Message
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
from kwire.messages.registry import all_messages, message

if TYPE_CHECKING:
    from kwire.codec.json_form import from_json, to_json

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
    "all_messages",
    "from_json",
    "message",
    "to_json",
]


def __getattr__(name: str) -> Any:
    """JSON is imported when it is asked for: most programs never do."""
    if name not in ("from_json", "to_json"):
        raise AttributeError(f"module 'kwire' has no attribute {name!r}")
    from kwire.codec import json_form

    return getattr(json_form, name)
