"""Requests answered by a `Service`, or by another node, instead of the node behind the listener.

`Dispatch` is the filter that asks a service, a router, or nobody. What they are for: `metadata`
lets any client bootstrap at the controllers, `kip919` gives controllers of Kafka 3 the admin APIs
of Kafka 4; a third, with a controller of kwire's own, is put together in `cli`.
"""

from kwire.proxy.serve.dispatch import Dispatch, Routed, Router

__all__ = ["Dispatch", "Routed", "Router"]
