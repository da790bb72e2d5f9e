"""Responses from an image, as brokers give them, for controllers and proxies; one file an API."""
