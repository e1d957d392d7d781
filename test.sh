#!/usr/bin/env bash
# Builds and runs the whole test suite, without a GPU. test.sh [ctest arguments]
set -euo pipefail
cd "$(dirname "$0")"
./setup.sh test
# What the Python package's tests need, in an environment of their own; without a registry they skip.
[ -x build/python-venv/bin/pytest ] || { python3 -m venv build/python-venv && build/python-venv/bin/pip install -q numpy ml_dtypes pytest wheel; } ||
  echo "test.sh: no environment for the Python tests; they run where python3 itself has numpy and pytest"
# NVRTC and nvdisasm, for the tests that read machine code; without them those skip, or read it by its encoding alone.
cuda=$(pwd)/build/cuda-tools
[ -d "$cuda" ] || build/python-venv/bin/pip install -q --no-deps --target "$cuda" nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-nvdisasm==13.2.86 ||
  echo "test.sh: no NVRTC and nvdisasm from the registry; what reads machine code takes those of the machine, if there are any"
for file in "$cuda"/nvidia/*/lib/libnvrtc.so.1?; do [ -e "$file" ] && export ZELLIGE_NVRTC=${ZELLIGE_NVRTC:-$file}; done
for file in "$cuda"/nvidia/*/bin/nvdisasm; do [ -e "$file" ] && export ZELLIGE_NVDISASM=${ZELLIGE_NVDISASM:-$file}; done
cmake --preset release -DZELLIGE_TESTS=ON
cmake --build build
# The parsers' fuzz targets, briefly; they need clang, which brings libFuzzer.
cmake -S . -B build-fuzz -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++ -DZELLIGE_TESTS=ON -DZELLIGE_FUZZ=ON >/dev/null
cmake --build build-fuzz --target fuzz_own_json fuzz_mirage
ctest --test-dir build-fuzz -R '^fuzz_' --output-on-failure -j "$(nproc)"
ctest --test-dir build --output-on-failure --timeout 900 -j "$(nproc)" "$@"
