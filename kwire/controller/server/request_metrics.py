"""Counts, error codes and times of the requests that a controller answered."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

import msgspec
from prometheus_client import Counter, Histogram
from prometheus_client.core import Metric

from kwire import error_codes
from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.messages.registry import api_name
from kwire.net.service import RequestContext, Service

PREFIX = "kafka_network_requestmetrics"


class RequestMetrics:
    """Kafka's RequestMetrics of one node.

    RequestsPerSec and ErrorsPerSec are totals, TotalTimeMs is a histogram of seconds. They are in
    no registry of Prometheus, since one process may run several nodes.
    """

    def __init__(self) -> None:
        self._requests = Counter(
            f"{PREFIX}_requests",
            "RequestsPerSec: requests, by API and version.",
            ("request", "version"),
            registry=None,
        )
        self._errors = Counter(
            f"{PREFIX}_errors",
            "ErrorsPerSec: error codes in responses, NONE among them.",
            ("request", "error"),
            registry=None,
        )
        self._times = Histogram(
            f"{PREFIX}_total_time_seconds",
            "TotalTimeMs: from the decoded request to its response, waiting included.",
            ("request",),
            registry=None,
        )

    def count(self, request: Request, version: int, response: Response, seconds: float) -> None:
        """Count one request and its response, and observe its time."""
        name = api_name(type(request).key or 0)
        self._requests.labels(name, str(version)).inc()
        self._times.labels(name).observe(seconds)
        # A response without any error code counts as NONE, as in Java.
        for code in list(codes(response)) or [0]:
            self._errors.labels(name, error_codes.name(code)).inc()

    def collect(self) -> Iterator[Metric]:
        """Yield the metric families."""
        for family in (self._requests, self._errors, self._times):
            yield from family.collect()


class MeteredService:
    """A service that counts the answers of another one."""

    def __init__(self, service: Service, metrics: RequestMetrics) -> None:
        self._service = service
        self._metrics = metrics

    @property
    def apis(self) -> Mapping[int, Versions]:
        """The APIs of the counted service."""
        return self._service.apis

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        """Return the service's answer. A request without one is not counted."""
        began = time.perf_counter()
        response = await self._service.answer(request, context)
        if response is not None:
            took = time.perf_counter() - began
            self._metrics.count(request, context.version, response, took)
        return response


def codes(value: object) -> Iterator[int]:
    """Yield every `error_code` within, as Kafka counts them: one for each topic or resource."""
    if isinstance(value, list | tuple):
        for element in value:
            yield from codes(element)
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            inner = getattr(value, field)
            if field == "error_code":
                yield inner
            elif isinstance(inner, list | tuple | msgspec.Struct):
                yield from codes(inner)
