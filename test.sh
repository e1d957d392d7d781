#!/usr/bin/env bash
# Builds and runs the whole test suite, without a GPU. test.sh [ctest arguments]
# ZELLIGE_ALL=1 runs all cases of the tests that take some of theirs by default.
# With arguments only the tests that they choose run, and the parts beside CTest are left out. In CI (CI=true) warnings are
# errors, and the build is made to be used once (cmake/precompile.cmake).
set -euo pipefail
cd "$(dirname "$0")"

# part NAME COMMAND...: runs the command; the minutes of all parts are printed at the end.
minutes=()
part() {
  local name=$1 before=$SECONDS status=0
  shift
  echo "test.sh: $name"
  "$@" || status=$?
  minutes+=("$(awk -v s=$((SECONDS - before)) -v n="$name" 'BEGIN { printf "%6.1f min  %s", s / 60, n }')")
  [ $status = 0 ] || minutes[-1]+=" (failed)"
  return $status
}
print_minutes() {
  local status=$?
  [ ${#minutes[@]} -eq 0 ] || printf '%s\n' "test.sh: the parts" "${minutes[@]}" \
    "$(awk -v s=$SECONDS 'BEGIN { printf "%6.1f min  together", s / 60 }')"
  return $status
}
trap print_minutes EXIT
# also NAME COMMAND...: a part whose failure does not keep the others from running.
failed=()
also() { part "$@" || failed+=("$1"); }

# install LIST FOLDER COMMAND...: what LIST names, unless it is there.
install() {
  cmp -s "$1" "$2/installed.txt" && return
  rm -rf "$2"
  "${@:3}" && cp "$1" "$2/installed.txt"
}
environment() { python3 -m venv "$2" && "$2/bin/pip" install -q -r "$1"; }
packages() {
  local lists=tests/suite here
  here=$(pwd)/build
  mkdir -p build
  install $lists/requirements.txt "$here/python-venv" environment $lists/requirements.txt "$here/python-venv" ||
    echo "test.sh: no environment for the Python tests from the registry: what needs it is skipped, and counted" >&2
  install $lists/tools.txt "$here/tools" \
    "$here/python-venv/bin/pip" install -q --disable-pip-version-check --no-deps --target "$here/tools" -r $lists/tools.txt ||
    echo "test.sh: no tools from the registry: what needs them is skipped, and counted" >&2
}
# In CI what runs sanitized is built and run that way alone.
apart=OFF
[ -z "${CI:-}" ] || [ $# -gt 0 ] || apart=ON
build() {
  cmake --preset release -DZELLIGE_TESTS=ON -DCMAKE_EXPORT_COMPILE_COMMANDS=ON ${CI:+-DZELLIGE_WERROR=ON -DZELLIGE_PRECOMPILE=ON -DZELLIGE_UNITY=ON -DZELLIGE_BUILT_ONCE=ON} -DZELLIGE_SANITIZED_APART=$apart &&
    cmake --build build
}
# The parsers' fuzz targets, briefly, and the tests without an emulator, under AddressSanitizer and UndefinedBehaviorSanitizer.
build_sanitized() {
  cmake --preset sanitized ${CI:+-DZELLIGE_PRECOMPILE=ON -DZELLIGE_UNITY=ON -DZELLIGE_BUILT_ONCE=ON} && cmake --build --preset sanitized
}
reports=$(pwd)/build/reports
run_tests() {  # BUILD arguments...
  GTEST_OUTPUT=xml:$reports/$(basename "$1")/ ZELLIGE_REPORTS=$reports \
    ctest --test-dir "$1" --output-on-failure --no-tests=error --timeout 900 -j "$(nproc)" \
    --output-junit "$reports/$(basename "$1")/ctest.xml" "${@:2}"
}

rm -rf "$reports"
part "packages of the system" ./setup.sh test
packages & # while the compiler works
installing=$!
part "build" build
part "packages of the registry (beside the build)" wait $installing
# NVRTC, nvdisasm and CuTe's tutorials; without them what reads machine code takes those of the machine, if there are any.
for file in build/python-venv/lib/python3*/site-packages/nvidia/cu13/lib/libnvrtc.so.1?; do
  [ -e "$file" ] && export ZELLIGE_NVRTC=${ZELLIGE_NVRTC:-$(pwd)/$file}
done
for file in build/tools/nvidia/*/bin/nvdisasm; do [ -e "$file" ] && export ZELLIGE_NVDISASM=${ZELLIGE_NVDISASM:-$(pwd)/$file}; done
tutorials=$(pwd)/build/tools/cutlass_library/source/examples/cute/tutorial
[ -d "$tutorials" ] && export ZELLIGE_CUTE_TUTORIALS=${ZELLIGE_CUTE_TUTORIALS:-$tutorials}

also "tests" run_tests build "$@"
if [ $# -eq 0 ]; then
  if part "sanitized build" build_sanitized; then
    also "sanitized tests" run_tests build-sanitized -L sanitized
  else
    failed+=("sanitized build")
  fi
  also "clang-tidy on what the commit changes" python3 tests/suite/tidy.py
fi
also "skips" python3 tests/suite/skips.py "$reports"
[ ${#failed[@]} -eq 0 ] || { printf 'test.sh: failed: %s\n' "${failed[@]}" >&2; exit 1; }
