#!/bin/sh
# run.sh BUILD LIBRARY [pytest arguments]: the package's tests on a library that is built, not installed.
build=$1
export ZELLIGE_LIBRARY="$2" PYTHONDONTWRITEBYTECODE=1
shift 2
. "$(dirname "$0")/../python/interpreter.sh"
if ! "$python" -c 'import numpy, pytest' 2>/dev/null; then
  echo "skipped: $python has not both numpy and pytest; test.sh makes an environment that has"
  exit 77
fi
[ -n "${ZELLIGE_CONFORMANCE:-}" ] || export ZELLIGE_CONFORMANCE="$PWD/../shared/conformance"
[ -z "${ZELLIGE_REPORTS:-}" ] || set -- "$@" --junitxml="$ZELLIGE_REPORTS/python.$$.xml"  # a report of each run
exec "$python" -m pytest -q -p no:cacheprovider "$@"
