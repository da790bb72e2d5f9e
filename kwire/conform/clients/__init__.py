"""Clients under test: kwire is the cluster, and a program that somebody names is its client.

Arrows point down: suite → run_case → cases, program, node → script → answers → cluster. The cluster
and its answers have no socket, clock or thread; `node` gives them the bytes.
"""
