"""The proxy's feed: what passes, as UDP datagrams for viewers elsewhere (docs/watch.md).

A datagram may be lost, so that no viewer can ever slow the traffic; sequence numbers show what was.
The receiver decodes. It imports asyncio-dgram, which comes with the extra `watch`.
"""
