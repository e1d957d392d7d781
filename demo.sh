#!/usr/bin/env bash
# The main job on a real graph: plan it, write the kernel, run it on the GPU if there is one, else on the emulator,
# compare with the reference. demo.sh [GRAPH.json]
set -euo pipefail
cd "$(dirname "$0")"
graph=${1:-examples/lora.json}
./setup.sh build
cmake --preset release -DZELLIGE_TESTS=OFF >build-demo.log 2>&1 || { cat build-demo.log >&2; exit 1; }
mv build-demo.log build/demo.log
cmake --build build --target zellige
echo
./build/zellige transpile "$graph" --explain --force -o build/demo
echo
echo "The kernel: build/demo/*.cu"
./build/zellige run "$graph" --on auto --time
