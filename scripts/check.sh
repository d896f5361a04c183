#!/usr/bin/env bash
# Format, lint, types, import contracts. Runs all of them and then fails if one did.
. "$(dirname "$0")/common.sh"

FAILED=()
FOLDERS=()
for folder in core tools sandbox themes tui tests bench; do [ ! -d "$folder" ] || FOLDERS+=("$folder"); done

check() {
  local name=$1 start=$SECONDS
  shift
  if "$@"; then say "$name: ok ($((SECONDS - start)) s)"; else FAILED+=("$name"); fi
}

check format "$VENV/bin/python" -m ruff format --check --output-format concise .
check lint "$VENV/bin/python" -m ruff check --output-format concise .
check types "$VENV/bin/python" -m mypy handrail.py "${FOLDERS[@]}"
check imports "$VENV/bin/lint-imports" --no-logo
[ "${#FAILED[@]}" = 0 ] || die 1 "failed: ${FAILED[*]}"
