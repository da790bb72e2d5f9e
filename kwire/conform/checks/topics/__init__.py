"""Checks of CreateTopics, DeleteTopics and CreatePartitions."""
