"""Three codec engines: they read and write messages as these are declared."""
