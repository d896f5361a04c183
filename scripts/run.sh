#!/usr/bin/env bash
# Starts the app in place of this script: scripts/run.sh ARGUMENT... (those of `handrail`).
#
# Compiled modules are kept even where the caller's environment says otherwise: without them each start compiles the app.
. "$(dirname "$0")/common.sh"

unset PYTHONDONTWRITEBYTECODE LC_ALL
exec "$VENV/bin/python" handrail.py "$@"
