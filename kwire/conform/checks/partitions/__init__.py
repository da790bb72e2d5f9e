"""Checks of partitions and their replicas."""
