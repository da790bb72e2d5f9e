"""The exception by which a handler refuses a request (Java: ApiException)."""

from __future__ import annotations

from kwire.error_codes import ErrorCode
from kwire.errors import KwireError


class ApiError(KwireError):
    """Raised to answer a request, or a part of one, with an error code; nothing is changed."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        self.code = code
        self.message = message
        super().__init__(f"{code.name}: {message}" if message else code.name)
