#!/usr/bin/env bash
# Writes both lock files anew: newest versions that pyproject.toml allows, for every platform and Python >= 3.11.
#
# They hold hashes and no address, so that any mirror serves them. The test lock takes the app's versions as given, so it
# is a superset. Two corrections make them install with the pip of every supported Python:
# - pyobjc is left out. browser-use asks for it under a condition that is true nowhere (platform_system in lower case), and
#   its conditions on the kernel's release stop pip 24 on kernels whose release is no version number.
# - lxml is pinned without its extra, on which pip 23 fails; the package behind the extra is our own dependency.
. "$(dirname "$0")/common.sh"

compile() {
  local out=$1
  shift
  say "resolving $out"
  uv pip compile pyproject.toml "$@" --no-config --quiet --upgrade --universal --python-version 3.11 \
    --overrides <(echo "pyobjc ; python_version < '3'") --generate-hashes --no-strip-extras --no-header \
    --no-emit-index-url --no-emit-find-links --output-file "$out.part"
  sed 's/^lxml\[html-clean\]==/lxml==/' "$out.part" >"$out"
  rm "$out.part"
}

PATH=$PWD/$VENV/bin:$PATH
has uv || die 1 "uv is needed: run 'make setup' first"
compile requirements.lock
compile requirements-dev.lock --extra dev --constraint requirements.lock
if grep -nE '://|platform_release|^torch==' requirements.lock requirements-dev.lock; then
  die 1 "an address, a condition on the kernel or PyTorch came into a lock file, see above"
fi
say "done: 'make run' and 'make test' install the new versions"
