"""The kwire command: one file or folder a group of commands, no logic of its own."""
