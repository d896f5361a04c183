#!/usr/bin/env bash
# Makes the sandbox's base image, handrail-sandbox:base, on the engine that answers.
#
# From an image registry when one answers, else from Debian packages with debootstrap (root; the result is kept as a file).
# The recipe is sandbox/images/base/; its hash is in the tag, so a changed recipe makes a new image.
# Exit: 0 the image is there and runs; 12 it could not be made.
. "$(dirname "$0")/common.sh"
export DOCKER_CLI_HINTS=false DOCKER_BUILDKIT=0

RECIPE=sandbox/images/base
SUITE=bookworm
UPSTREAM=debian:$SUITE-slim
CACHE=${HANDRAIL_IMAGE_CACHE:-/var/cache/handrail}
PULL_LIMIT_S=180
HASH=$(hash_of "$RECIPE/packages.txt" "$RECIPE/prepare.sh" "$RECIPE/Dockerfile")
IMAGE=handrail-sandbox:base-$HASH

present() { docker image inspect "$1" >/dev/null 2>&1; }

runs() {
  docker run --rm --network none --cap-drop ALL --security-opt no-new-privileges --read-only "$1" \
    python3 -c 'print("ok")' 2>/dev/null | grep -qx ok
}

build_from_registry() {
  if ! timeout "$PULL_LIMIT_S" docker pull -q "$UPSTREAM" >/dev/null 2>&1; then
    say "no image registry answers"
    return 1
  fi
  say "building on $UPSTREAM"
  docker build -q --force-rm --network host --build-arg "UPSTREAM=$UPSTREAM" --label "dev.handrail.base=$HASH" \
    -t "$IMAGE" "$RECIPE" >/dev/null
}

# The mirror that this machine's own packages come from.
debian_mirror() {
  {
    sed -n 's/^URIs:[[:space:]]*//p' /etc/apt/sources.list.d/*.sources
    sed -nE 's/^deb (\[[^]]*\] )?([^ ]+).*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list
  } 2>/dev/null | grep -m1 '/debian/\?$'
}

bootstrap() {
  local tree=$1 mirror=$2 packages
  packages=$(tr '\n' ',' <"$RECIPE/packages.txt")
  say "installing Debian $SUITE into a folder (about two minutes)"
  if ! debootstrap --variant=minbase --include="${packages%,}" "$SUITE" "$tree" "$mirror" >"$CACHE/debootstrap.log" 2>&1; then
    tail -5 "$CACHE/debootstrap.log" >&2
    return 1
  fi
  chroot "$tree" sh -s <"$RECIPE/prepare.sh" && rm -rf "$tree"/dev/* "$tree"/etc/resolv.conf "$tree"/etc/hostname
}

make_archive() {
  local archive=$1 mirror tree
  is_root && has_apt || die 12 "no image registry answers, and making the base image without one needs root on Debian"
  mirror=${HANDRAIL_DEBIAN_MIRROR:-$(debian_mirror)} || true
  [ -n "$mirror" ] || die 12 "no Debian mirror in the package sources: set HANDRAIL_DEBIAN_MIRROR"
  has debootstrap || apt_install debootstrap || die 12 "debootstrap could not be installed"
  mkdir -p "$CACHE"
  tree=$(mktemp -d "$CACHE/tree.XXXXXX")
  if ! bootstrap "$tree" "$mirror" || ! tar --numeric-owner --one-file-system -C "$tree" -cf "$archive.part" .; then
    rm -rf "$tree" "$archive.part"
    die 12 "the base image could not be made, see $CACHE/debootstrap.log"
  fi
  rm -rf "$tree"
  mv "$archive.part" "$archive"
  find "$CACHE" -maxdepth 1 -name 'base-*.tar' ! -path "$archive" -delete
}

import_archive() {
  docker import -c 'CMD ["/bin/bash"]' -c 'USER 1000:1000' -c 'WORKDIR /workspace' -c 'ENV LANG=C.UTF-8' \
    -c "LABEL dev.handrail.base=$HASH" "$1" "$IMAGE" >/dev/null
}

hold_lock image 900
if ! present "$IMAGE" || ! runs "$IMAGE"; then
  ARCHIVE=$CACHE/base-$HASH.tar
  if [ -s "$ARCHIVE" ] || ! build_from_registry; then
    [ -s "$ARCHIVE" ] || make_archive "$ARCHIVE"
    import_archive "$ARCHIVE" || die 12 "the engine does not take $ARCHIVE"
  fi
  runs "$IMAGE" || die 12 "$IMAGE was made but does not run Python"
fi
docker tag "$IMAGE" handrail-sandbox:base
say "ready: handrail-sandbox:base ($HASH)"
