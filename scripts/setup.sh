#!/usr/bin/env bash
# Sets up everything for one purpose and starts no app. A second run finds all in place and takes a moment.
#
#   scripts/setup.sh user [--quick]   environment and Chromium; --quick: a browser that could not be had is not tried again
#   scripts/setup.sh test             that, test tools, container engine, base image, bubblewrap
#
# A missing engine, image or bubblewrap is a failure in CI (CI set); elsewhere it is said, and its tests are skipped.
. "$(dirname "$0")/common.sh"

PART=${1:-user}
AGAIN=--again
[ "${2:-}" != --quick ] || AGAIN=

user_part() {
  scripts/venv.sh user
  scripts/chromium.sh $AGAIN
}

# The engine and its image take the longest and need no Python: they are made while the packages install.
test_part() {
  local engine_job bubblewrap_job failed=0
  (scripts/engine.sh && scripts/image.sh) &
  engine_job=$!
  scripts/bubblewrap.sh &
  bubblewrap_job=$!
  scripts/venv.sh dev && scripts/chromium.sh --again || failed=1
  wait "$bubblewrap_job" || missing bubblewrap
  wait "$engine_job" || missing "the container engine or its image"
  [ "$failed" = 0 ] || die 1 "the Python environment could not be made, see above"
  [ -z "${CI:-}" ] || [ "$(cat "$STAMPS/chromium")" != none ] || die 1 "no Chromium, and CI does without nothing"
}

missing() {
  [ -z "${CI:-}" ] || die 1 "$1: not there, and CI does without nothing"
  say "$1: not there, its tests will be skipped"
}

case "$PART" in
  user) user_part ;;
  test) test_part ;;
  *) die 2 "unknown part '$PART': user or test" ;;
esac
