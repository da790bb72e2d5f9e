"""Message declarations: one module an API, `a<key>_<name>`; records and formats.

    from kwire.messages import AddRaftVoterRequest

A message is imported when it is first used. The stub beside this file has the types.
"""

from kwire.lazy_names import lazy_names
from kwire.messages.index import MODULES

__getattr__, __dir__ = lazy_names(
    "kwire.messages",
    {name: module for module, names in MODULES.items() for name in names} | {"message": "registry"},
)
