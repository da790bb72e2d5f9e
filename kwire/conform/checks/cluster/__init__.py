"""Checks of DescribeCluster and FindCoordinator."""
