"""Checks of Metadata and DescribeTopicPartitions."""
