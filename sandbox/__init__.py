"""Where shell commands and code run: container, local cage, remote. The only place that knows the engine."""
