#!/usr/bin/env bash
# Builds and runs the whole test suite, without a GPU. test.sh [ctest arguments]
set -euo pipefail
cd "$(dirname "$0")"
./setup.sh test
cmake --preset release -DZELLIGE_TESTS=ON
cmake --build build
ctest --test-dir build --output-on-failure --timeout 900 -j "$(nproc)" "$@"
