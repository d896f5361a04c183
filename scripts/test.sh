#!/usr/bin/env bash
# The whole test suite on two workers. Tests of one terminal, engine or browser keep to one worker (tests/conftest.py).
. "$(dirname "$0")/common.sh"

exec "$VENV/bin/python" -m pytest -n 2 --dist loadgroup "$@" </dev/null
