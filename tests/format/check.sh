#!/usr/bin/env bash
# Every C++ and CUDA file stands as .clang-format says. check.sh [--fix]
# What a program wrote (goldens) is left alone. Versions of clang-format differ: only 14, Debian 12's, counts.
set -euo pipefail
cd "$(dirname "$0")/../.."
tool=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$tool" ] || ! "$tool" --version | grep -q 'version 14\.'; then
  echo "skipped: clang-format 14 is not here (${tool:+$("$tool" --version)})"
  exit 77
fi
files() {
  find include src tests examples bench compat -path '*/golden/*' -prune -o \
    -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -print0
}
if [ "${1:-}" = --fix ]; then
  files | xargs -0 -n 40 -P 2 "$tool" -i
else
  files | xargs -0 -n 40 -P 2 "$tool" --dry-run -Werror || { echo "tests/format/check.sh --fix puts it right" >&2; exit 1; }
fi
