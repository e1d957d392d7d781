#!/usr/bin/env bash
# Installs the Debian packages that Zellige needs: setup.sh [build|test]. Does nothing where they are there already.
set -euo pipefail
packages=(g++ cmake ninja-build ccache binutils libfmt-dev nlohmann-json3-dev libcli11-dev libboost-context-dev libxxhash-dev libopenblas0-pthread)
[ "${1:-build}" = test ] && packages+=(libgtest-dev librapidcheck-dev python3 python3-venv clang clang-format libclang-rt-14-dev)
missing=()
for p in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
done
[ ${#missing[@]} -eq 0 ] && exit 0
command -v apt-get >/dev/null || { echo "setup.sh: needs ${missing[*]}; this is not Debian, so install them by hand" >&2; exit 1; }
root=()
[ "$(id -u)" = 0 ] || root=(sudo)
echo "setup.sh: installing ${missing[*]}"
"${root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@" >/dev/null' sh "${missing[@]}"
