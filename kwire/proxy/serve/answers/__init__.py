"""Answers from a cluster's image that only brokers give; one file an API."""
