#!/bin/sh
# run.sh BUILD LIBRARY [pytest arguments]: the package's tests on a library that is built, not installed.
build=$1
export ZELLIGE_LIBRARY="$2" PYTHONDONTWRITEBYTECODE=1
shift 2
cd "$(dirname "$0")/../.." || exit 1
python=$build/python-venv/bin/python
[ -x "$python" ] || python=python3
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "skipped: $python is older than Python 3.11"
  exit 77
fi
if ! "$python" -c 'import numpy, pytest' 2>/dev/null; then
  echo "skipped: $python has not both numpy and pytest; test.sh makes an environment that has"
  exit 77
fi
[ -n "${ZELLIGE_CONFORMANCE:-}" ] || export ZELLIGE_CONFORMANCE="$PWD/../shared/conformance"
PYTHONPATH=$PWD/python exec "$python" -m pytest -q -p no:cacheprovider "$@"
