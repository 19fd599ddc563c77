"""One module per service; only `cleveragents.container` builds them."""
