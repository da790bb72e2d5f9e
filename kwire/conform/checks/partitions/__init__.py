"""Checks of fenced and stopping replicas (KIP-841)."""
