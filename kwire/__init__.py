"""Kafka's wire protocol: every message of Kafka 4.4, 4.3 and 3.9, byte for byte.

AddRaftVoterRequest = kwire.message("AddRaftVoterRequest")
data = AddRaftVoterRequest(voter_id=3).encode(version=1)
AddRaftVoterRequest.decode(data, version=1)
"""

from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from kwire.codec.declaration import Message
    from kwire.codec.json_form import from_json, to_json
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
    from kwire.messages import message
    from kwire.messages.registry import all_messages

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

if not TYPE_CHECKING:  # a type checker would take any name for one of these
    # Every room lies in this package, also those that need no message: `kwire --help` would else
    # wait for the codec.
    from kwire.lazy_names import lazy_names

    _MODULE_OF = {
        "Message": "codec.declaration",
        "all_messages": "messages.registry",
        "from_json": "codec.json_form",
        "message": "messages.registry",
        "to_json": "codec.json_form",
    }

    __getattr__, __dir__ = lazy_names("kwire", dict.fromkeys(__all__, "errors") | _MODULE_OF)
