"""Contract suites and fakes for the ports, for our tests and for those of third parties."""
