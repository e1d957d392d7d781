#!/bin/sh
# run.sh BUILD LIBRARY [compare.py's options]: each operator against NumPy, or PyTorch where the Python has it.
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
PYTHONPATH=$PWD/python exec "$python" tests/meaning/compare.py "$@"
