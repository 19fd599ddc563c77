"""One module per noun: a service's result becomes a `Report`."""
