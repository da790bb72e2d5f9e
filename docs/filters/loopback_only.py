"""Refuse connections from other hosts before connecting to the node."""

from kwire.proxy import ClientConnection, Close, Filter


class LoopbackOnly(Filter):
    def on_connect(self, connection: ClientConnection) -> Close | None:
        host = connection.client.rpartition(":")[0].strip("[]")
        return None if host in ("127.0.0.1", "::1") else Close()
