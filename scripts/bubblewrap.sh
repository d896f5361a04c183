#!/usr/bin/env bash
# Installs what the tests need beside Python packages, a browser and an engine: bubblewrap (the cage without an engine).
. "$(dirname "$0")/common.sh"

has bwrap || { is_root && has_apt && apt_install bubblewrap; } || say "bubblewrap is missing: install the package 'bubblewrap'"
if has bwrap && bwrap --ro-bind / / --unshare-pid --proc /proc true 2>/dev/null; then
  say "ready: $(bwrap --version)"
else
  say "bubblewrap does not run here: its tests are skipped, or fail in CI"
fi
