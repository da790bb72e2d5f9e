"""Checks of Produce, Fetch, ListOffsets, OffsetForLeaderEpoch and DeleteRecords."""
