"""Metrics for Prometheus: of a quorum and its cluster, read over the protocol, without JMX."""
