"""Requests answered by a `Service`, or by another node, instead of the node behind the listener.

`Dispatch` is the filter that asks a service or a router. `modes` has the modes of `--serve`:
`metadata` lets any client bootstrap at the controllers, `kip919` gives controllers of Kafka 3 the
admin APIs of Kafka 4. A third, with a controller of kwire's own, lies in `cli`, since the proxy
does not import the controller.
"""

from kwire.proxy.serve.dispatch import Dispatch, RequestRouter, RoutedResponse

__all__ = ["Dispatch", "RequestRouter", "RoutedResponse"]
