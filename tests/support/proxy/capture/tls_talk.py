"""TLS between OpenSSL's client and a node, as bytes that each side has sent, with a key log."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.certificates import Authority
from tests.support.proxy.capture.packets import Talk, request, response

SUITES = {
    "1.3 AES-128": ("-tls1_3", "-ciphersuites", "TLS_AES_128_GCM_SHA256"),
    "1.3 AES-256": ("-tls1_3", "-ciphersuites", "TLS_AES_256_GCM_SHA384"),
    "1.3 ChaCha20": ("-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"),
    "1.2 AES-128": ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"),
    "1.2 AES-256": ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"),
    "1.2 ChaCha20": ("-tls1_2", "-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"),
    "1.2 CBC": ("-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256"),
}
"""Arguments of `openssl s_client`."""

KEY_UPDATE = b"K\n"
"""A command of `openssl s_client`: change the keys of both directions."""


@dataclass
class TlsTalk:
    """A connection. chunks: the side, 0 for the client, and what it sent, in order."""

    folder: Path
    chunks: list[tuple[int, bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.keys = self.folder / "keys.log"

    def run(self, suite: str, *steps: int | bytes) -> TlsTalk:
        """Connect; have the client send requests with these numbers, and commands of OpenSSL's."""
        context = Authority(self.folder, "ca").server("localhost")
        with socket.create_server(("127.0.0.1", 0)) as listening:
            node = threading.Thread(target=self._serve, args=(listening, context))
            node.start()
            address = f"127.0.0.1:{listening.getsockname()[1]}"
            line = ["openssl", "s_client", "-connect", address, "-keylogfile", str(self.keys)]
            pipe = subprocess.PIPE
            with subprocess.Popen(
                [*line, *SUITES[suite]], stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT
            ) as client:
                assert client.stdin
                assert client.stdout
                for step in steps:
                    data = step if isinstance(step, bytes) else request(step)
                    client.stdin.write(data)
                    client.stdin.flush()
                    printed = b""
                    expected = b"KEYUPDATE" if isinstance(step, bytes) else response(step)
                    while expected not in printed:
                        more = os.read(client.stdout.fileno(), 1 << 16)
                        assert more, printed
                        printed += more
                client.stdin.close()
            node.join()
        return self

    def talk(self, mss: int = 1448) -> Talk:
        """Return its packets."""
        talk = Talk().open()
        for side, data in self.chunks:
            talk.write(side, data, mss)
        return talk.close()

    def _serve(self, listening: socket.socket, context: ssl.SSLContext) -> None:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        node, shaken, number = context.wrap_bio(incoming, outgoing, server_side=True), False, 0
        connection, _ = listening.accept()
        with connection:
            while data := connection.recv(1 << 16):
                self.chunks.append((0, data))
                incoming.write(data)
                with suppress(ssl.SSLWantReadError):
                    if not shaken:
                        node.do_handshake()
                        shaken = True
                    while asked := node.read():
                        number = int.from_bytes(asked[8:12], "big")
                        node.write(response(number))
                if sent := outgoing.read():
                    self.chunks.append((1, sent))
                    connection.sendall(sent)
