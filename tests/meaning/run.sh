#!/bin/sh
# run.sh BUILD LIBRARY PROGRAM [its options]: one of the programs here, on the library that is built.
build=$1
export ZELLIGE_LIBRARY="$2" PYTHONDONTWRITEBYTECODE=1
program=$3
shift 3
cd "$(dirname "$0")/../.." || exit 1
python=$build/python-venv/bin/python
[ -x "$python" ] || python=python3
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "skipped: $python is older than Python 3.11"
  exit 77
fi
PYTHONPATH=$PWD/python exec "$python" "tests/meaning/$program" "$@"
