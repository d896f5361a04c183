"""The browser the agent drives: its life, what is seen of a page, and what is done on it."""
