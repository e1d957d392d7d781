#!/usr/bin/env bash
# From a graph to a checked kernel: builds the command, compiles the graph, runs its kernels on the GPU if there is one, else
# on the emulator, and compares with the reference.
#   demo.sh [-v] [GRAPH.json]      -v prints the build, the plan and the times
set -euo pipefail
cd "$(dirname "$0")"
verbose=
[ "${1:-}" = -v ] && verbose=1 && shift
graph=${1:-examples/lora.json}

# A step prints its name; what it prints itself goes to build/demo.log, and to the terminal with -v or if it fails.
mkdir -p build
: >build/demo.log
step() {
  echo "$1"
  shift
  if [ -n "$verbose" ]; then
    "$@" 2>&1 | tee -a build/demo.log
  else
    "$@" >>build/demo.log 2>&1 || { cat build/demo.log >&2; exit 1; }
  fi
}
step "Installing what is missing (setup.sh)" ./setup.sh build
step "Configuring" cmake --preset release -DZELLIGE_TESTS=OFF
step "Building the command zellige (some minutes the first time)" cmake --build build --target zellige
step "Compiling $graph" ./build/zellige transpile "$graph" --explain --force -o build/demo
step "Running it" ./build/zellige run "$graph" --on auto --time

source=$(grep -o 'build/demo/[^ ]*\.cu' build/demo.log | tail -1)
kernels=$(grep -c '__global__' "$source")
verdict=$(grep -oE '\] +(correct|borderline|wrong|refused|failed) +(emulator|gpu)?' build/demo.log | tail -1 | sed -E 's/^\] +//; s/ +/, on the /; s/, on the $//')
echo
echo "Made:    $source: $kernels CUDA kernel(s), $(wc -l <"$source") lines, and a manifest next to it"
echo "Checked: $verdict, against a float64 reference"
echo "Look:    less $source; the plan and the times are in build/demo.log, or run ./demo.sh -v"
echo "Next:    build/zellige optimize examples/layers/gpt_mlp.json shows how nine operators become three kernels"
echo "Read:    docs/index.md, with a column for PyTorch, kernel and compiler people"
