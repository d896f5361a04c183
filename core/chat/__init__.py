"""The chat completions protocol: requests as servers want them, replies as servers really send them."""
