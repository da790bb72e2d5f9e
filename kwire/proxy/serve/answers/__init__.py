"""Responses from a cluster's image, of APIs that only brokers have; one file an API."""
