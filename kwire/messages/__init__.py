"""Requests, responses and headers: one module an API, `a<key>_<name>`."""
