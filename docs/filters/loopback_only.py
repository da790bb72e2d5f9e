"""Who does not come from this machine is shown the door before the node hears of it."""

from kwire.proxy import Close, Connection, Filter


class LoopbackOnly(Filter):
    def on_connect(self, connection: Connection) -> Close | None:
        host = connection.client.rpartition(":")[0].strip("[]")
        return None if host in ("127.0.0.1", "::1") else Close()
