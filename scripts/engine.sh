#!/usr/bin/env bash
# Makes a container engine answer: any that runs already is used; else, as root on Debian, Docker is installed and started.
#
# Never starts a second daemon beside one that runs: two share the bridge and the image store, and break each other.
# Exit: 0 an engine answers; 10 none, and this user cannot start one; 11 the daemon does not start; 13 it cannot be installed.
. "$(dirname "$0")/common.sh"
export DOCKER_CLI_HINTS=false

SOCKET=/var/run/docker.sock
PID_FILE=/var/run/docker.pid
DAEMON_LOG=/var/log/handrail-dockerd.log
START_LIMIT_S=30

answers() { timeout 5 docker version --format '{{.Server.Version}}' 2>/dev/null; }

install_docker() {
  if has dockerd && has docker; then return 0; fi
  has_apt || die 13 "Docker is missing and this system has no apt-get: install it by hand"
  apt_install docker.io iptables || die 13 "Docker could not be installed from the system's packages"
  has docker || apt_install docker-cli || die 13 "the docker command could not be installed"
}

# Docker needs the cgroup hierarchies, which a bare container or virtual machine may not have mounted.
mount_cgroups() {
  local controller root=/sys/fs/cgroup
  ! grep -qsE " $root(/[a-z,]+)? cgroup2? " /proc/mounts || return 0
  say "mounting cgroups"
  if ! awk 'NR > 1 && $2 != 0 { used = 1 } END { exit !used }' /proc/cgroups && mount -t cgroup2 none "$root" 2>/dev/null; then
    return 0
  fi
  mount -t tmpfs -o mode=755 cgroup "$root" 2>/dev/null || true
  for controller in $(awk 'NR > 1 && $4 == 1 { print $1 }' /proc/cgroups) name=systemd; do
    mkdir -p "$root/${controller#name=}"
    mount -t cgroup -o "none,$controller" cgroup "$root/${controller#name=}" 2>/dev/null ||
      mount -t cgroup -o "$controller" cgroup "$root/${controller#name=}" 2>/dev/null ||
      rmdir "$root/${controller#name=}" 2>/dev/null || true
  done
}

is_live_daemon() {
  [ "$(cat "/proc/$1/comm" 2>/dev/null)" = dockerd ] && ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

# A killed daemon leaves its pid file and socket, and the next one refuses to start beside them.
clear_leftovers() {
  local pid
  for pid in $(cat "$PID_FILE" 2>/dev/null) $(pgrep -x dockerd 2>/dev/null); do
    ! is_live_daemon "$pid" || die 11 "a Docker daemon (process $pid) runs but does not answer within 5 s: restart it"
  done
  rm -f "$PID_FILE" "$SOCKET"
}

# try_daemon ARGUMENT...: true once the daemon answers; false when it ended or took too long, and then it is stopped.
try_daemon() {
  local pid tenths
  setsid nohup dockerd -H "unix://$SOCKET" "$@" >"$DAEMON_LOG" 2>&1 </dev/null 7>&- 8>&- &
  pid=$!
  for ((tenths = 0; tenths < START_LIMIT_S * 10; tenths++)); do
    ! answers >/dev/null || return 0
    kill -0 "$pid" 2>/dev/null || return 1
    sleep 0.1
  done
  kill "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  return 1
}

start_daemon() {
  local firewall
  say "starting the Docker daemon (log: $DAEMON_LOG)"
  ! try_daemon || return 0
  if grep -qiE 'iptables|nf_tables' "$DAEMON_LOG"; then
    for firewall in /usr/sbin/iptables-legacy /usr/sbin/iptables-nft; do
      [ -x "$firewall" ] && update-alternatives --set iptables "$firewall" >/dev/null 2>&1 || continue
      say "once more with $firewall"
      ! try_daemon || return 0
    done
    say "once more without a firewall: containers reach no network"
    ! try_daemon --iptables=false --ip6tables=false || return 0
  fi
  if grep -qiE 'overlay|storage-driver|graphdriver' "$DAEMON_LOG"; then
    say "once more with the plain storage driver"
    ! try_daemon --storage-driver=vfs || return 0
  fi
  tail -5 "$DAEMON_LOG" >&2
  die 11 "the Docker daemon does not start, see $DAEMON_LOG"
}

if VERSION=$(answers); then
  say "ready: engine $VERSION"
  exit 0
fi
hold_lock engine 900
if ! answers >/dev/null; then
  case "${DOCKER_HOST:-unix://$SOCKET}" in
    "unix://$SOCKET" | unix:///run/docker.sock) ;;
    *) die 10 "no engine answers on DOCKER_HOST=$DOCKER_HOST" ;;
  esac
  is_root || die 10 "no container engine answers: start Docker, or add this user to the group 'docker'"
  install_docker
  # The package's own start-up may have brought it up by now.
  if ! answers >/dev/null; then
    mount_cgroups
    clear_leftovers
    start_daemon
  fi
fi
say "ready: engine $(answers)"
