#!/usr/bin/env bash
# Finds or installs a Chromium that starts, and fonts for Chinese, Japanese and Korean text.
#
#   scripts/chromium.sh [--again]   --again: try once more although the last try found none
#
# Without a browser the app works, less its browser tool: so this never fails, it says so.
. "$(dirname "$0")/common.sh"

AGAIN=
[ "${1:-}" != --again ] || AGAIN=1
DOWNLOAD_LIMIT_S=60
NAMES=(chromium chromium-browser google-chrome google-chrome-stable chrome brave-browser)

playwright_browser() {
  "$VENV/bin/python" - <<'PYTHON' 2>/dev/null
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
PYTHON
}

find_browser() {
  local app
  first_runnable "${HANDRAIL_CHROME:-}" "${NAMES[@]}" && return 0
  for app in "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" "/Applications/Chromium.app/Contents/MacOS/Chromium"; do
    [ ! -x "$app" ] || { printf '%s\n' "$app"; return 0; }
  done
  first_runnable "$(playwright_browser)"
}

# As root on Debian the package comes first: it brings its libraries, which a bare machine lacks for any other build.
install_browser() {
  if is_root && has_apt && apt_install chromium && first_runnable "${NAMES[@]}" >/dev/null; then return 0; fi
  say "fetching Playwright's Chromium (at most $DOWNLOAD_LIMIT_S s)"
  if has timeout; then
    timeout -k 5 "$DOWNLOAD_LIMIT_S" "$VENV/bin/python" -m playwright install chromium >&2
  else
    "$VENV/bin/python" -m playwright install chromium >&2
  fi
}

install_fonts() {
  if ! is_root || ! has_apt; then return 0; fi
  if has fc-list && [ -n "$(fc-list ':lang=zh' family)" ]; then return 0; fi
  apt_install fonts-noto-cjk || apt_install fonts-wqy-zenhei || say "no fonts for Chinese and Japanese could be installed"
}

known() {
  local path
  path=$(cat "$STAMPS/chromium" 2>/dev/null) || return 1
  case "$path" in
    none) [ -z "$AGAIN" ] && say "no Chromium here: the browser tool is off ('make setup' tries again)" ;;
    *) [ -x "$path" ] ;;
  esac
}

if known; then exit 0; fi
hold_lock chromium 600
if ! BROWSER=$(find_browser); then
  say "no Chromium found, installing one"
  install_browser || true
  BROWSER=$(find_browser) || BROWSER=none
fi
install_fonts || true
write_stamp chromium "$BROWSER"
if [ "$BROWSER" = none ]; then
  say "no Chromium could be installed: the browser tool is off; install chromium and run 'make setup' again"
else
  say "ready: $BROWSER"
fi
