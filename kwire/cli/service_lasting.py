"""What a cluster of a service has from its start to its end: viewers, addresses, answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.cli.feeding import feeding
from kwire.cli.flow_options import expression
from kwire.cli.serving import Mode, Serving, serving
from kwire.errors import InvalidValue
from kwire.proxy import Filter, Filters, Flow
from kwire.proxy.addresses import AddressBook
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.filters.intercept import Stop
from kwire.proxy.filters.rule_set import RuleSet
from kwire.proxy.service.config import ClusterConfig

if TYPE_CHECKING:
    from kwire.proxy.feed.sender import Feed

KEYS = ("hold", "feed", "rewrite_endpoints", "advertised_host", "serve")


class Lasting:
    """Made once for a cluster. filters, rules: of its proxy. Raises WrongUsage, Failure.

    feed: to viewers, who hold messages. book: the addresses that are written over the nodes'.
    serving: answers what no filter before it has, and opens the listeners itself.
    """

    def __init__(self, config: ClusterConfig, filters: Filters, rules: RuleSet) -> None:
        self._config = config
        self._before: list[Filter] = []
        self._behind: list[Filter] = []
        self.feed: Feed | None = None
        self.book: AddressBook | None = None
        self.serving: Serving | None = None
        if config.feed is not None:
            stop = Stop(expression(config.hold), self._held)
            self._before.append(stop)
            viewers = feeding(str(config.feed.listen), config.feed.token)
            self.feed = None if viewers is None else viewers.feed(stop, filters, rules, config.hold)
        if config.rewrite_endpoints:
            self.book = AddressBook(config.advertised_host)
            self._behind.append(RewriteEndpoints(self.book))
        if config.serve is not None:
            self.serving = serving(
                Mode(config.serve.mode),
                [one.listener for one in config.listeners],
                cluster_id=config.serve.cluster_id,
                advertised_host=config.advertised_host,
                off_loopback=config.serve.off_loopback,
                client_config=config.serve.client_config,
            )
            self._behind.append(self.serving.filter)

    def around(self, filters: list[Filter]) -> list[Filter]:
        """These filters between its own."""
        return [*self._before, *filters, *self._behind]

    def check(self, config: ClusterConfig) -> None:
        """Raises InvalidValue where a configuration wants other than there is."""
        for key in KEYS:
            if getattr(config, key) != getattr(self._config, key):
                raise InvalidValue(f"cluster {config.name!r}: another {key} needs a restart")
        if self.serving is not None and config.listeners != self._config.listeners:
            raise InvalidValue(
                f"cluster {config.name!r} serves: other listeners of it need a restart"
            )

    def _held(self, flow: Flow) -> None:
        if self.feed is not None:
            self.feed.hold(flow)
