"""DefaultPrincipalData."""

from __future__ import annotations

from kwire.codec.declaration import Data
from kwire.codec.notation import boolean, string


class DefaultPrincipalData(Data, versions="0", flexible="0+"):
    """A broker passes on who sent a request that it forwards (KIP-590)."""

    type: str = string
    name: str = string
    token_authenticated: bool = boolean
