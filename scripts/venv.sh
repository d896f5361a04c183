#!/usr/bin/env bash
# Makes .venv from a lock file and leaves it alone while nothing changed.
#
#   scripts/venv.sh user   what the app needs   (requirements.lock)
#   scripts/venv.sh dev    that and the test tools (requirements-dev.lock, a superset with the same versions)
#
# PYTHON=NAME chooses the interpreter; else the newest of 3.13, 3.12, 3.11 that runs.
. "$(dirname "$0")/common.sh"

PART=${1:-user}
case "$PART" in
  user) LOCK=requirements.lock ;;
  dev) LOCK=requirements-dev.lock ;;
  *) die 2 "unknown part '$PART': user or dev" ;;
esac

# The folder is part of the key: a moved environment has scripts that point to the old place.
key() { printf '%s %s' "$(hash_of "$1")" "$PWD"; }

# An interpreter that was upgraded or removed leaves a link that is broken or of another version than the environment.
venv_runs() {
  local version
  version=$("$VENV/bin/python" -I -S -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || return 1
  [ -d "$VENV/lib/python$version/site-packages" ]
}

# True for an environment that can stay: it runs, was made here, and with the interpreter asked for, if one is.
venv_fits() {
  venv_runs && stamp_is folder "$PWD" && { [ -z "${PYTHON:-}" ] || stamp_is python "$PYTHON"; }
}

up_to_date() { venv_fits && stamp_is "$PART" "$(key "$LOCK")"; }

can_make_venv() { "$1" -I -c 'import ensurepip, venv' >/dev/null 2>&1; }

is_new_enough() { "$1" -I -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

# The newest that can make an environment by itself, else the newest.
choose_python() {
  local candidate newest=
  for candidate in ${PYTHON:-python3.13 python3.12 python3.11 python3}; do
    is_new_enough "$candidate" || continue
    newest=${newest:-$candidate}
    ! can_make_venv "$candidate" || { command -v "$candidate" && return 0; }
  done
  [ -n "$newest" ] && command -v "$newest"
}

# Debian splits venv and ensurepip off; the package's name carries the version of the interpreter.
make_venv() {
  local python=$1 version
  if ! can_make_venv "$python" && ! has uv && is_root && has_apt; then
    version=$("$python" -I -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    apt_install "python$version-venv" || true
  fi
  rm -rf "$VENV"
  if can_make_venv "$python"; then
    "$python" -m venv "$VENV"
  elif has uv; then
    uv venv --quiet --python "$python" "$VENV"
  else
    die 1 "$python has no venv module: install python3-venv (Debian, Ubuntu) or uv, then run this again"
  fi
}

install_lock() {
  if "$VENV/bin/python" -I -c 'import pip' 2>/dev/null; then
    "$VENV/bin/python" -m pip --disable-pip-version-check install -qq --no-input --no-deps --require-hashes -r "$LOCK"
  else
    uv pip install --quiet --no-deps --python "$VENV/bin/python" --require-hashes -r "$LOCK"
  fi
}

# The fast way out comes before the lock: it is on the path of every `make run`.
if up_to_date; then exit 0; fi

hold_lock venv 900
if up_to_date; then exit 0; fi
if ! venv_fits; then
  PYTHON_PATH=$(choose_python) ||
    die 1 "Python 3.11 or newer is needed${PYTHON:+, and PYTHON=$PYTHON is not}; install it or name one with PYTHON="
  say "making $VENV with $("$PYTHON_PATH" --version) ($PYTHON_PATH)"
  make_venv "$PYTHON_PATH"
  write_stamp folder "$PWD"
  write_stamp python "${PYTHON:-}"
fi
say "installing the packages of $LOCK (about a minute the first time)"
install_lock
write_stamp user "$(key requirements.lock)"
[ "$PART" = user ] || write_stamp dev "$(key requirements-dev.lock)"
say "ready: $("$VENV/bin/python" --version) in $VENV"
