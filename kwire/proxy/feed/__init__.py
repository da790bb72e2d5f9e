"""The proxy's feed: passing flows and notices as UDP datagrams for viewers.

docs/reference/feed-format.md describes them.

UDP, since a viewer that is slow or gone must never slow the traffic; datagrams that are lost show
as gaps in the sequence numbers. The receiver decodes the frames, so that the proxy does not have
to. `sender` and `receiver` import asyncio-dgram, which comes with the extra `watch`.
"""
