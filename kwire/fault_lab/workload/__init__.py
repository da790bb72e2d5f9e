"""The clients of a run: each module is one subject, a coroutine that lasts until the run stops."""
