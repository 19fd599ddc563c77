"""One module per command or group, each imported when it is called."""
