# Shared by the set-up scripts: messages, locks, stamps, Debian packages. Sourced by bash, never run by itself.
#
# Every script that sources this runs from the top of the repository, however it was called.

set -Eeuo pipefail
export LC_ALL=C.UTF-8
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VENV=.venv
STAMPS=$VENV/.stamps

say() { printf '%s: %s\n' "$(basename "$0" .sh)" "$*" >&2; }

# die CODE MESSAGE: the message says what to do next, so no trace follows it.
die() {
  local code=$1
  shift
  say "$*"
  exit "$code"
}

has() { command -v "$1" >/dev/null 2>&1; }

is_root() { [ "$(id -u)" = 0 ]; }

has_apt() { has apt-get && has dpkg-query; }

# first_runnable CANDIDATE...: the first that is there and really runs. Version managers put shims on PATH that only fail.
first_runnable() {
  local candidate
  for candidate in "$@"; do
    if [ -n "$candidate" ] && "$candidate" --version >/dev/null 2>&1; then
      command -v "$candidate"
      return 0
    fi
  done
  return 1
}

# hold_lock NAME SECONDS: one at a time for this user; held until the script ends. Without flock (macOS) there is no lock.
hold_lock() {
  has flock || return 0
  exec 8>"${TMPDIR:-/tmp}/handrail-$1.$(id -u).lock"
  flock -w "$2" 8 || die 1 "another $1 set-up has been running for more than $2 s"
}

# A stamp is a file in the virtual environment that holds the key of what was set up: inputs changed = set up again.
stamp_is() { [ -f "$STAMPS/$1" ] && [ "$(cat "$STAMPS/$1")" = "$2" ]; }

write_stamp() {
  mkdir -p "$STAMPS"
  printf '%s\n' "$2" >"$STAMPS/$1.part"
  mv "$STAMPS/$1.part" "$STAMPS/$1"
}

hash_of() {
  if has sha256sum; then cat "$@" | sha256sum | cut -c1-16; else cat "$@" | shasum -a 256 | cut -c1-16; fi
}

# missing_packages NAME...: those that dpkg does not have installed.
missing_packages() {
  local name
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s\n' "$name"
  done
}

# apt_install NAME...: does nothing when all are there. The package lists are refreshed once an hour at most, because
# several scripts of one set-up come here, two of them at the same time.
apt_install() {
  local missing marker=/var/lib/apt/handrail-lists-updated
  mapfile -t missing < <(missing_packages "$@")
  [ "${#missing[@]}" -gt 0 ] || return 0
  (
    exec 7>"/var/lock/handrail-apt.lock"
    flock -w 900 7
    if [ -z "$(find "$marker" -mmin -60 2>/dev/null)" ]; then
      say "refreshing the package lists"
      apt_get update >/dev/null && touch "$marker"
    fi
    say "installing ${missing[*]}"
    apt_get install -y --no-install-recommends "${missing[@]}" >/dev/null
  )
}

apt_get() {
  DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 "$@" </dev/null
}
