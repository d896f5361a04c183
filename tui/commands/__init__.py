"""One module a sub-command; each has HELP, `add_arguments` and `run`."""
