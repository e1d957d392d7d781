# Sourced with $build set, from a folder beside this one: changes to the root, and leaves in $python the interpreter of the tests, that of the
# environment that test.sh made where there is one. Ends the test as skipped where that is too old.
cd "$(dirname "$0")/../.." || exit 1
python=$build/python-venv/bin/python
[ -x "$python" ] || python=python3
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "skipped: $python is older than Python 3.11"
  exit 77
fi
export PYTHONPATH=$PWD/python
