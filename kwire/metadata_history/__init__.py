"""A metadata log's history: what changed, when, by which leader, from what to what (KIP-631).

history = stored_history(Path("/var/lib/kafka/metadata"))
for change in history.changes():
    print(change.offset, change.entry.path, change.entry.before, change.entry.after)
"""
