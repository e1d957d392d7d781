#!/bin/sh
# Runs the planner's golden tests; with --update, writes the golden files and the plan quoted in docs/explanation/planner.md again.
#   tests/plan/golden.sh [--update] [BUILD_FOLDER]        BUILD_FOLDER: build by default
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
update=0
if [ "${1:-}" = --update ]; then update=1; shift; fi
build=${1:-$root/build}
cmake --build "$build" --target test_plan_goldens -j 2
if [ "$update" = 1 ]; then
  rm -f "$root"/tests/plan/golden/*.ir "$root"/tests/plan/golden/*.cu
  ZELLIGE_UPDATE_GOLDENS=1 "$build/test_plan_goldens" --gtest_brief=1
  git -C "$root" --no-pager diff --stat -- tests/plan/golden docs/explanation/planner.md || true
fi
"$build/test_plan_goldens" --gtest_brief=1
