"""Kafka's wire protocol: every message of Kafka 4.4, 4.3 and 3.9, byte for byte.

AddRaftVoterRequest = kwire.message("AddRaftVoterRequest")
data = AddRaftVoterRequest(voter_id=3).encode(version=1)
AddRaftVoterRequest.decode(data, version=1)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    from kwire.messages.registry import all_messages, message

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
    _MODULE_OF = {
        "Message": "kwire.codec.declaration",
        "all_messages": "kwire.messages.registry",
        "from_json": "kwire.codec.json_form",
        "message": "kwire.messages.registry",
        "to_json": "kwire.codec.json_form",
    }

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used.

        Every room lies in this package, also those that need no message: `kwire --help` would
        else wait for the codec.
        """
        if name not in __all__:
            raise AttributeError(f"module 'kwire' has no attribute {name!r}")
        value = getattr(import_module(_MODULE_OF.get(name, "kwire.errors")), name)
        globals()[name] = value
        return value
