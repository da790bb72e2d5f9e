"""A server of Amazon's S3 in this process: moto's, on a free port of this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from moto.server import ThreadedMotoServer


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """The server. env: the variables with which fsspec, delta-rs and DuckDB find it."""

    host: str
    port: int

    @property
    def env(self) -> dict[str, str]:
        """The variables that Amazon's own libraries read; none of them is kwire's."""
        return {
            "AWS_ENDPOINT_URL": f"http://{self.host}:{self.port}",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
        }


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Run a server without buckets."""
    # A line for every request.
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        yield ObjectStore(*server.get_host_and_port())
    finally:
        server.stop()
