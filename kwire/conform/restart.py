"""Starts a server anew by a command of the user, for checks that a server dies of."""

from __future__ import annotations

import asyncio
import tempfile
from asyncio.subprocess import DEVNULL

from kwire.conform.runner import Restart
from kwire.errors import LocalError
from kwire.text.untrusted import harmless

_EXCERPT = 300


class RestartFailed(LocalError):
    """The command that starts the server anew failed."""


def restart_by(command: str) -> Restart:
    """Return what runs a command of the shell, and waits for its end.

    The server that it starts may go on: it must do so in the background. Raises RestartFailed.
    """

    async def restart() -> None:
        # Not a pipe: the server would hold it open, and its end would never come.
        with tempfile.TemporaryFile() as errors:
            process = await asyncio.create_subprocess_shell(
                command, stdin=DEVNULL, stdout=DEVNULL, stderr=errors
            )
            try:
                code = await process.wait()
            except asyncio.CancelledError:
                process.kill()
                raise
            if code:
                errors.seek(0)
                said = harmless(errors.read()[-_EXCERPT:].decode("utf-8", "replace").strip())
                text = f"the command of --restart ended with {code}"
                raise RestartFailed(f"{text}: {said}" if said else text)

    return restart
