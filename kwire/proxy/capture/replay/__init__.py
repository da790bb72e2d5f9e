"""Replay of captures: requests to a real cluster, or answers to real clients.

`plan` orders the requests, `client` sends them and compares the answers (`comparison`), with the
ids of the cluster it meets (`cluster_ids`). `answers` finds the recorded answer to a request,
`server` sends it.
"""
