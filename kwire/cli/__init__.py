"""The kwire command: one file a group, no logic of its own."""
