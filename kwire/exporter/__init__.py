"""Metrics of a quorum and its cluster for Prometheus, read over the protocol: no JMX needed."""
