"""What the operations of every theme stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kwire.admin.routing import Router


class Operations:
    """A part of AdminClient; `_router` finds the node that an operation is for."""

    def __init__(self, router: Router) -> None:
        self._router = router
