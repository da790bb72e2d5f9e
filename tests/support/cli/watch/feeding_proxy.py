"""A `kwire proxy` process with a feed."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE

from tests.support.cli.command import KWIRE


@contextmanager
def feeding_proxy(node: str, *arguments: str) -> Iterator[tuple[tuple[str, int], str]]:
    """Run a proxy with a feed; yield the addresses of its listener and of its feed."""
    run = [str(KWIRE), "proxy", "--listen", f"3000@127.0.0.1:0={node}", "--feed", "127.0.0.1:0"]
    with subprocess.Popen([*run, *arguments], stdout=PIPE, stderr=PIPE, text=True) as proxy:
        assert proxy.stderr
        listening = re.match(r"listening at (.+):(\d+) in front of", proxy.stderr.readline())
        feed = re.match(r"watch it: kwire watch (\S+)", proxy.stderr.readline())
        assert listening
        assert feed
        try:
            yield (listening[1], int(listening[2])), feed[1]
        finally:
            proxy.kill()
